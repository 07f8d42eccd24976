package manifest

import "slices"

// EnvNames is every variable that the connector's process may be given, sorted:
// its environment variables, the paths and tool overrides it reads, the folder of
// an import, the operator's deployment configuration, the captured credentials and
// what authorisation yields. The registration by which this server signs in at the provider
// is not among them: the connector has no use for it.
func (m *Manifest) EnvNames() []string {
	var names []string
	o := m.OAuth()
	for _, v := range m.declaredVariables() {
		if o == nil || v.name != o.ClientIDEnv && v.name != o.ClientSecretEnv {
			names = append(names, v.name)
		}
	}
	return sortedUnique(names)
}

// CredentialEnv is the variables without which the connector cannot sign in,
// sorted: those of every required credential field of a form that may not be left
// empty, every environment variable that is both required and secret, and what
// authorisation requires.
func (m *Manifest) CredentialEnv() []string {
	var names []string
	if m.RuntimeRequirements != nil {
		for _, v := range m.RuntimeRequirements.EnvironmentVariables {
			if v.Required && v.Secret {
				names = append(names, v.Name)
			}
		}
	}
	for _, f := range m.credentialFields() {
		if f.Required && m.Setup.CredentialCapture.IsRequired() {
			names = append(names, f.Env...)
		}
	}
	if o := m.OAuth(); o != nil {
		names = append(names, o.AccessTokenEnv)
	}
	auth := m.auth()
	names = append(names, auth.Required...)
	for _, c := range auth.ConnectionConfig {
		if c.needed() {
			names = append(names, c.EnvVar)
		}
	}
	return sortedUnique(names)
}

// SecretEnv is the variables whose values must never be shown, sorted: those that
// are declared secret, and every one that signs in.
func (m *Manifest) SecretEnv() []string {
	names := m.CredentialEnv()
	if m.RuntimeRequirements != nil {
		for _, v := range m.RuntimeRequirements.EnvironmentVariables {
			if v.Secret {
				names = append(names, v.Name)
			}
		}
	}
	for _, f := range m.credentialFields() {
		if f.Secret {
			names = append(names, f.Env...)
		}
	}
	if o := m.OAuth(); o != nil && o.ClientSecretEnv != "" {
		names = append(names, o.ClientSecretEnv)
	}
	auth := m.auth()
	for _, c := range auth.DeploymentConfig {
		if c.Secret {
			names = append(names, c.EnvAlias)
		}
	}
	for _, c := range auth.ConnectionConfig {
		if c.secret() {
			names = append(names, c.EnvVar)
		}
	}
	return sortedUnique(names)
}

// CapturedEnv is every variable that the form of the credential fills, sorted.
func (m *Manifest) CapturedEnv() []string {
	var names []string
	for _, f := range m.credentialFields() {
		names = append(names, f.Env...)
	}
	return sortedUnique(names)
}

func (m *Manifest) credentialFields() []CredentialField {
	if m.Setup == nil || m.Setup.CredentialCapture == nil {
		return nil
	}
	return m.Setup.CredentialCapture.Fields
}

// variable is the mention of an environment variable at a path.
type variable struct{ path, name string }

func (m *Manifest) declaredVariables() []variable {
	var all []variable
	if rr := m.RuntimeRequirements; rr != nil {
		for i, v := range rr.EnvironmentVariables {
			all = append(all, variable{element("runtime_requirements.environment_variables", i) + ".name", v.Name})
		}
		for i, p := range rr.LocalPaths {
			all = append(all, variable{element("runtime_requirements.local_paths", i) + ".path_env", p.PathEnv})
		}
		for i, t := range rr.ExternalTools {
			if name := t.Detect.ExecutableEnvOverride; name != "" {
				path := element("runtime_requirements.external_tools", i) + ".detect.executable_env_override"
				all = append(all, variable{path, name})
			}
		}
	}
	if m.Setup != nil {
		for i, name := range m.Setup.DeploymentConfig {
			all = append(all, variable{element("setup.deployment_config", i), name})
		}
		if o := m.Setup.OAuth; o != nil {
			all = append(all, variable{"setup.oauth.access_token_env", o.AccessTokenEnv})
		}
		if files := m.Setup.ManualOrUpload; files != nil && files.ImportDirEnvVar != "" {
			all = append(all, variable{"setup.manual_or_upload.import_dir_env_var", files.ImportDirEnvVar})
		}
	}
	for i, f := range m.credentialFields() {
		path := element("setup.credential_capture.fields", i) + ".env"
		for j, name := range f.Env {
			all = append(all, variable{element(path, j), name})
		}
	}
	auth := m.auth()
	for i, name := range auth.Required {
		all = append(all, variable{element("capabilities.auth.required", i), name})
	}
	for i, c := range auth.DeploymentConfig {
		all = append(all, variable{element("capabilities.auth.deployment_config", i) + ".env_alias", c.EnvAlias})
	}
	for i, c := range auth.ConnectionConfig {
		all = append(all, variable{element("capabilities.auth.connection_config", i) + ".env_var", c.EnvVar})
	}
	return all
}

func sortedUnique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
