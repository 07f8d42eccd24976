package manifest

import "strings"

// Auth describes how a provider authorizes access. The connector gets the variables that it names; the component
// that obtains the tokens uses the addresses.
type Auth struct {
	Kind                     string            `json:"kind,omitempty" doc:"Such as env or oauth."`
	Required                 []string          `json:"required,omitempty" rule:"unique,pattern=env" doc:"Variables without which the connector cannot sign in."`
	ExchangerKind            string            `json:"exchanger_kind,omitempty" doc:"How a code becomes tokens."`
	AuthorizationURL         string            `json:"authorization_url,omitempty" rule:"pattern=web" doc:"Where the owner consents."`
	TokenURL                 string            `json:"token_url,omitempty" rule:"pattern=web" doc:"Where tokens are issued."`
	UserinfoURL              string            `json:"userinfo_url,omitempty" rule:"pattern=web" doc:"Address that returns the identity of the account."`
	AuthorizationParams      map[string]string `json:"authorization_params,omitempty" doc:"Parameters added to the authorisation request."`
	Scopes                   []string          `json:"scopes,omitempty" rule:"unique" doc:"Scopes that are asked for."`
	ResourceGroups           []string          `json:"resource_groups,omitempty" rule:"unique" doc:"Groups of data that are asked for."`
	DeploymentConfig         []AuthDeployment  `json:"deployment_config,omitempty" doc:"What the operator supplies once for all connections."`
	ConnectionConfig         []AuthConnection  `json:"connection_config,omitempty" doc:"What each connection's consent yields, by variable."`
	EnvBundleKind            string            `json:"env_bundle_kind,omitempty" doc:"Whether the consent yields one value or several."`
	LegacyBundleFieldAliases map[string]string `json:"legacy_bundle_field_aliases,omitempty" doc:"Older names of the yielded values."`
	ProviderIdentityGroup    string            `json:"provider_identity_group,omitempty" doc:"Connectors of one group share the operator's registration."`
	ProviderIdentityLabel    string            `json:"provider_identity_label,omitempty" doc:"Name of that registration."`
}

// AuthDeployment is one value of the operator's registration with the provider.
type AuthDeployment struct {
	LogicalKey string `json:"logical_key,omitempty" doc:"Such as client_id."`
	Label      string `json:"label,omitempty" doc:"Name shown to the operator."`
	Secret     bool   `json:"secret,omitempty" doc:"Whether the value is redacted everywhere. Absent: false."`
	EnvAlias   string `json:"env_alias" rule:"required,pattern=env" doc:"Variable that carries it."`
}

// AuthConnection is one value that the consent for a connection produces.
type AuthConnection struct {
	EnvVar      string `json:"env_var" rule:"required,pattern=env" doc:"Variable that carries it."`
	BundleField string `json:"bundle_field,omitempty" doc:"Such as refresh_token."`
	Required    *bool  `json:"required,omitempty" doc:"Whether the connector cannot sign in without it. Absent: true."`
}

func (c *AuthConnection) needed() bool { return c.Required == nil || *c.Required }

// secret reports whether the value grants access to the account.
func (c *AuthConnection) secret() bool {
	return c.needed() || strings.HasSuffix(c.BundleField, "_token")
}

// auth returns the authorization section of the manifest; never nil.
func (m *Manifest) auth() *Auth {
	if m.Capabilities == nil || m.Capabilities.Auth == nil {
		return &Auth{}
	}
	return m.Capabilities.Auth
}
