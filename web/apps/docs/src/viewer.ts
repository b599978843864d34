import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';

export function showApi(domNode: Element): void {
  SwaggerUI({
    domNode,
    url: '/api/openapi.json',
    deepLinking: true,
    // Of more than 150 rows the viewer draws only those in sight, in which nobody can search.
    docExpansion: 'none',
    // The badge of an outside service, which would have to be sent our document.
    validatorUrl: null,
  });
}
