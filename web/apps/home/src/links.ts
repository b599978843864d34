/** The address of an app; the organisation of this page's address goes with it. */
export function appLink(app: string, search: string): string {
  const org = new URLSearchParams(search).get('org');
  return org ? `/${app}/?${new URLSearchParams({ org })}` : `/${app}/`;
}
