// Clients of both servers, typed by their OpenAPI documents.
import createClient, { type Client, type Middleware } from "openapi-fetch";

import type { paths as DesktopPaths } from "./desktop.gen.js";
import type { paths as PosturePaths } from "./posture.gen.js";

export type Posture = Client<PosturePaths>;
export type Desktop = Client<DesktopPaths>;

const renewBeforeMilliseconds = 60_000;

/** posture returns a client of the posture server that authenticates with an API token. */
export function posture(server: string, apiToken: string): Posture {
  const client = createClient<PosturePaths>({ baseUrl: server });
  client.use(withApiToken(server, apiToken));
  return client;
}

/** desktop logs in to the desktop server and returns a client of the new session. */
export async function desktop(
  server: string,
  login: { domain: string; username: string; password: string },
): Promise<Desktop> {
  const client = createClient<DesktopPaths>({ baseUrl: server });
  const { data, response } = await client.POST("/rest/login", { body: login });
  if (!data) throw new Error(`the desktop server refused the login: ${response.status}`);
  client.use({
    onRequest: ({ request }) => request.headers.set("Authorization", `Bearer ${data.access_token}`),
  });
  return client;
}

/** withApiToken adds an access token to requests, and replaces it before it expires. */
function withApiToken(server: string, apiToken: string): Middleware {
  let access = "";
  let expires = 0;
  return {
    async onRequest({ request }) {
      if (Date.now() + renewBeforeMilliseconds >= expires) {
        const response = await fetch(`${server}/csp/gateway/am/api/auth/api-tokens/authorize`, {
          method: "POST",
          body: new URLSearchParams({ refresh_token: apiToken }),
        });
        if (response.status === 400) throw new Error("the server does not accept the API token: 400");
        if (!response.ok) throw new Error(`the server does not exchange the API token now: ${response.status}`);
        const authorization = (await response.json()) as { access_token: string; expires_in: number };
        access = authorization.access_token;
        expires = Date.now() + authorization.expires_in * 1000;
      }
      request.headers.set("Authorization", `Bearer ${access}`);
    },
  };
}
