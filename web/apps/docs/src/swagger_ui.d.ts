declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  interface Options {
    domNode: Element;
    url: string;
    deepLinking: boolean;
    docExpansion: 'none';
    validatorUrl: null;
  }

  export default function SwaggerUI(options: Options): void;
}
