// The TypeScript client of the Model Context Protocol. It signs in by OAuth as its library does: the address for the
// owner's browser goes to standard output, and the code comes back on standard input. Then it calls the tools of its
// third argument, and prints the answers.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [modules, address, calls] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(createRequire(modules + "/").resolve("@modelcontextprotocol/sdk/" + name)));
const { Client } = await load("client/index.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
const { UnauthorizedError } = await load("client/auth.js");

const kept = {};
const provider = {
  redirectUrl: "http://127.0.0.1:1/back",
  clientMetadata: { client_name: "TypeScript assistant", redirect_uris: ["http://127.0.0.1:1/back"],
    token_endpoint_auth_method: "none" },
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  codeVerifier: () => kept.verifier,
  redirectToAuthorization: (url) => { console.log(String(url)); },
};
const connect = async () => {
  const client = new Client({ name: "typescript", version: "1" });
  const transport = new StreamableHTTPClientTransport(new URL(address), { authProvider: provider });
  try {
    await client.connect(transport);
    return client;
  } catch (e) {
    if (!(e instanceof UnauthorizedError)) throw e;
  }
  const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  const answer = new URLSearchParams((await lines.next()).value);
  await transport.finishAuth(answer.get("code"));
  return connect();
};
const client = await connect();
const answers = { tools: (await client.listTools()).tools.map((t) => t.name), results: [] };
for (const call of JSON.parse(calls)) answers.results.push(await client.callTool(call));
console.log(JSON.stringify(answers));
await client.close();
process.exit(0);
