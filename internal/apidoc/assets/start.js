SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#viewer",
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: "list",
  filter: true,
  persistAuthorization: false,
  queryConfigEnabled: false,
  validatorUrl: null, // no outside calls
});
