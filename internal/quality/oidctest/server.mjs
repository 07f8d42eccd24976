// The real oidc-provider, with the manners of a provider that rotates refresh tokens: short
// access tokens, a refresh token good for one use, and a family that ends when one is shown twice.
// It signs in and consents by itself, as the person of the test would.
import http from 'node:http';

const { Provider } = await import(process.env.OIDC_MODULES + '/oidc-provider/lib/index.js');
const port = Number(process.env.OIDC_PORT);
const issuer = `http://127.0.0.1:${port}`;
const seconds = Number(process.env.OIDC_TOKEN_SECONDS);

const provider = new Provider(issuer, {
  clients: [{
    client_id: 'pdpp-test', client_secret: process.env.OIDC_SECRET, application_type: 'native',
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
    redirect_uris: ['http://127.0.0.1/oauth/callback', 'http://127.0.0.1/callback'],
    token_endpoint_auth_method: 'client_secret_basic',
  }],
  features: { deviceFlow: { enabled: true }, devInteractions: { enabled: false }, revocation: { enabled: true } },
  pkce: { required: () => true },
  scopes: ['openid', 'offline_access', 'private'],
  cookies: { keys: ['for a test'] },
  ttl: { AccessToken: seconds, RefreshToken: 86400, Grant: 86400, Session: 86400, Interaction: 600, DeviceCode: 600, IdToken: 600, AuthorizationCode: 60 },
  rotateRefreshToken: true,
  issueRefreshToken: async () => true,
  findAccount: async (_, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
  interactions: { url: (_, interaction) => `/consent/${interaction.uid}` },
  renderError: async (ctx, out) => { ctx.type = 'json'; ctx.body = out; },
});

const log = { refreshed: 0, refused: {}, signIns: 0, familiesEnded: 0, requests: 0 };
const grants = new Set();
let decline = false;
let silent = 0; // answers that are kept back
provider.on('grant.success', (ctx) => {
  if (ctx.oidc.params.grant_type === 'refresh_token') log.refreshed++; else log.signIns++;
});
provider.on('grant.error', (ctx, err) => { log.refused[err.error] = (log.refused[err.error] ?? 0) + 1; });
provider.on('grant.revoked', () => { log.familiesEnded++; });

async function read(req) {
  let body = '';
  for await (const part of req) body += part;
  return body;
}

async function consent(req, res) {
  const { params, session } = await provider.interactionDetails(req, res);
  if (decline) {
    return provider.interactionFinished(req, res, { error: 'access_denied', error_description: 'the owner declined' }, { mergeWithLastSubmission: false });
  }
  const grant = new provider.Grant({ accountId: 'mara', clientId: params.client_id });
  grant.addOIDCScope(params.scope.split(' ').filter((s) => s !== process.env.OIDC_WITHHELD).join(' '));
  if (process.env.OIDC_WITHHELD) grant.rejectOIDCScope(process.env.OIDC_WITHHELD);
  const grantId = await grant.save();
  grants.add(grantId);
  return provider.interactionFinished(req, res, { login: { accountId: session?.accountId ?? 'mara' }, consent: { grantId } }, { mergeWithLastSubmission: false });
}

const answer = provider.callback();
http.createServer(async (req, res) => {
  try {
    const { pathname, searchParams } = new URL(req.url, issuer);
    if (pathname.startsWith('/consent/')) return await consent(req, res);
    if (pathname === '/test/log') return res.end(JSON.stringify(log));
    if (pathname === '/test/decline') { decline = searchParams.get('on') === 'yes'; return res.end(); }
    if (pathname === '/test/silent') { silent = Number(searchParams.get('n')); return res.end(); }
    if (pathname === '/test/withdraw') {
      for (const id of grants) {
        await provider.RefreshToken.revokeByGrantId(id);
        await provider.AccessToken.revokeByGrantId(id);
        await provider.Grant.adapter.destroy(id);
      }
      grants.clear();
      return res.end();
    }
    if (pathname === '/token') {
      log.requests++;
      if (silent > 0) { silent--; res.statusCode = 503; return res.end('{}'); }
    }
    return answer(req, res);
  } catch (err) {
    res.statusCode = 500;
    res.end(String(err.stack));
  }
}).listen(port, '127.0.0.1', () => console.log('listening'));
process.stdin.on('end', () => process.exit()).resume(); // whoever started it is gone
