package manifest

import "slices"

// EnvNames returns every variable that the connector's process may get, sorted: its environment variables, the
// paths and tool overrides it reads, the folder of an import, the operator's deployment configuration, the
// captured credentials, and the values of authorization. It does not include the server's own registration with
// the provider, except for the app's number if the provider expects it in every request.
func (m *Manifest) EnvNames() []string {
	var names []string
	o := m.OAuth()
	for _, v := range m.declaredVariables() {
		if o == nil || (v.name != o.ClientIDEnv || o.ClientIDForConnector) && v.name != o.ClientSecretEnv {
			names = append(names, v.name)
		}
	}
	return sortedUnique(names)
}

// CredentialEnv returns the variables that the connector needs to sign in, sorted: those of every required field
// of a required credential form, every environment variable that is both required and secret, and the required
// values of authorization.
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

// IsPlainSetting reports whether the set-up form asks for a variable in a field that is not secret, such as the address
// of a server.
func (m *Manifest) IsPlainSetting(name string) bool {
	return slices.ContainsFunc(m.credentialFields(), func(f CredentialField) bool {
		return !f.Secret && slices.Contains(f.Env, name)
	})
}

// SecretEnv returns the variables with values that must never be shown, sorted: those declared secret, and every
// variable for signing in.
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

// CapturedEnv returns every variable that the credential form sets, sorted.
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

// variableUse is a reference to an environment variable at a path.
type variableUse struct{ path, name string }

func (m *Manifest) declaredVariables() []variableUse {
	var all []variableUse
	if rr := m.RuntimeRequirements; rr != nil {
		for i, v := range rr.EnvironmentVariables {
			all = append(all, variableUse{elementPath("runtime_requirements.environment_variables", i) + ".name", v.Name})
		}
		for i, p := range rr.LocalPaths {
			all = append(all, variableUse{elementPath("runtime_requirements.local_paths", i) + ".path_env", p.PathEnv})
		}
		for i, t := range rr.ExternalTools {
			if name := t.Detect.ExecutableEnvOverride; name != "" {
				path := elementPath("runtime_requirements.external_tools", i) + ".detect.executable_env_override"
				all = append(all, variableUse{path, name})
			}
		}
	}
	if m.Setup != nil {
		for i, name := range m.Setup.DeploymentConfig {
			all = append(all, variableUse{elementPath("setup.deployment_config", i), name})
		}
		if o := m.Setup.OAuth; o != nil {
			all = append(all, variableUse{"setup.oauth.access_token_env", o.AccessTokenEnv})
		}
		if files := m.Setup.ManualOrUpload; files != nil && files.ImportDirEnvVar != "" {
			all = append(all, variableUse{"setup.manual_or_upload.import_dir_env_var", files.ImportDirEnvVar})
		}
	}
	for i, f := range m.credentialFields() {
		path := elementPath("setup.credential_capture.fields", i) + ".env"
		for j, name := range f.Env {
			all = append(all, variableUse{elementPath(path, j), name})
		}
	}
	auth := m.auth()
	for i, name := range auth.Required {
		all = append(all, variableUse{elementPath("capabilities.auth.required", i), name})
	}
	for i, c := range auth.DeploymentConfig {
		all = append(all, variableUse{elementPath("capabilities.auth.deployment_config", i) + ".env_alias", c.EnvAlias})
	}
	for i, c := range auth.ConnectionConfig {
		all = append(all, variableUse{elementPath("capabilities.auth.connection_config", i) + ".env_var", c.EnvVar})
	}
	return all
}

func sortedUnique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
