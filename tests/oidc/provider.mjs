// An OpenID Connect provider on loopback, with keys of its own at each start. Each client is a tenant: it gets tokens for the
// workspaces that its metadata name. Run by tests/servers.py: node provider.mjs PORT AUDIENCE '{"CLIENT": ["WORKSPACE"]}'
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { Provider, errors } from 'oidc-provider';

const [port, audience, tenants] = [Number(process.argv[2]), process.argv[3], JSON.parse(process.argv[4])];
const scope = 'trueweave:read trueweave:write trueweave:admin';
const key = (type, options, alg) => ({
  ...generateKeyPairSync(type, options).privateKey.export({ format: 'jwk' }), alg, use: 'sig', kid: randomUUID(),
});

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: Object.keys(tenants).map((name) => ({
    client_id: name, client_secret: 'for-tests-only', grant_types: ['client_credentials'], response_types: [], redirect_uris: [], scope,
  })),
  jwks: { keys: [key('rsa', { modulusLength: 2048 }, 'RS256'), key('ec', { namedCurve: 'P-256' }, 'ES256')] },
  scopes: scope.split(' '),
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (_, asked) => {
        if (![audience, 'https://other.example'].includes(asked)) throw new errors.InvalidTarget();
        return { scope, audience: asked, accessTokenFormat: 'jwt', accessTokenTTL: 300, jwt: { sign: { alg: 'ES256' } } };
      },
    },
  },
  extraTokenClaims: (_, token) => ({ trueweave_workspaces: tenants[token.clientId] }),
});
provider.listen(port, '127.0.0.1');
