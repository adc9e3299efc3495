// An OpenID Connect provider on loopback, with keys of its own at each start. Each client is a tenant: it gets tokens for the
// workspaces that its metadata name. The client `web` logs in people, who are named like tenants and have any password. Run by
// tests/servers.py: node provider.mjs PORT AUDIENCE '{"CLIENT": ["WORKSPACE"]}'
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { Provider, errors } from 'oidc-provider';

const [port, audience, tenants] = [Number(process.argv[2]), process.argv[3], JSON.parse(process.argv[4])];
const scope = 'trueweave:read trueweave:write trueweave:admin';
const key = (type, options, alg) => ({
  ...generateKeyPairSync(type, options).privateKey.export({ format: 'jwk' }), alg, use: 'sig', kid: randomUUID(),
});

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    ...Object.keys(tenants).map((name) => ({
      client_id: name, client_secret: 'for-tests-only', grant_types: ['client_credentials'], response_types: [], redirect_uris: [], scope,
    })),
    {
      client_id: 'web', client_secret: 'for-tests-only', grant_types: ['authorization_code'], response_types: ['code'],
      redirect_uris: [`${audience}/v1/session/callback`], scope: `openid ${scope}`,
    },
  ],
  pkce: { required: () => true },
  findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  loadExistingGrant: async (ctx) => {
    const { client, session } = ctx.oidc;
    const grant = new ctx.oidc.provider.Grant({ clientId: client.clientId, accountId: session.accountId });
    grant.addOIDCScope(`openid ${scope}`);
    if (session.accountId === 'scopeless') grant.rejectResourceScope(audience, scope);
    else grant.addResourceScope(audience, scope);
    await grant.save();
    return grant;
  },
  jwks: { keys: [key('rsa', { modulusLength: 2048 }, 'RS256'), key('ec', { namedCurve: 'P-256' }, 'ES256')] },
  scopes: scope.split(' '),
  features: {
    devInteractions: { enabled: true }, // a form that takes any name
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: (_, client) => (client.clientId === 'web' ? audience : undefined),
      useGrantedResource: () => true,
      getResourceServerInfo: (_, asked) => {
        if (![audience, 'https://other.example'].includes(asked)) throw new errors.InvalidTarget();
        return { scope, audience: asked, accessTokenFormat: 'jwt', accessTokenTTL: 300, jwt: { sign: { alg: 'ES256' } } };
      },
    },
  },
  extraTokenClaims: (_, token) => ({ trueweave_workspaces: tenants[token.accountId ?? token.clientId] }),
});
provider.listen(port, '127.0.0.1');
