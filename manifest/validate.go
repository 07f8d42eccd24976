package manifest

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
)

// Validate applies every rule that Parse applies. It returns nil or Problems.
func (m *Manifest) Validate() error {
	return m.problems().asError()
}

func (m *Manifest) problems() Problems {
	var shape, ps Problems
	shape.shape("", reflect.ValueOf(m).Elem(), fieldRule{})
	ps.checkKey(m)
	ps.checkVariables(m)
	ps.checkPaths(m)
	ps.checkBrowser(m)
	ps.checkSetup(m.Setup)
	ps.checkRefreshPolicy(m.RefreshPolicy())
	ps.checkStreams(m.Streams)
	ps.checkDependencies(m.Streams)
	ps.checkProfiles(m)
	return append(shape, ps.withoutKnown(shape)...)
}

func (ps *Problems) checkKey(m *Manifest) {
	if m.ConnectorKey == "" && m.ConnectorID != "" && m.Key() == "" {
		ps.add("connector_id", "does not end in a name that could be the short key", "add connector_key")
	}
}

// checkVariables requires unambiguous names, and reserves the PDPP_ namespace for the runtime: otherwise a
// connector could request the server's own secrets by name.
func (ps *Problems) checkVariables(m *Manifest) {
	own := m.EnvPrefix() + "_"
	for _, v := range m.declaredVariables() {
		if strings.HasPrefix(v.name, "PDPP_") && !strings.HasPrefix(v.name, own) {
			ps.add(v.path, quoteShort(v.name)+" belongs to the runtime", "begin it with "+own+" or with the provider's name")
		}
	}
	if m.RuntimeRequirements != nil {
		seen := map[string]bool{}
		for i, v := range m.RuntimeRequirements.EnvironmentVariables {
			if seen[v.Name] && v.Name != "" {
				path := elementPath("runtime_requirements.environment_variables", i) + ".name"
				ps.add(path, quoteShort(v.Name)+" is declared twice", "declare it once")
			}
			seen[v.Name] = true
		}
	}
}

// checkPaths requires that a default lies below its folder.
func (ps *Problems) checkPaths(m *Manifest) {
	if m.RuntimeRequirements == nil {
		return
	}
	earlier := map[string]bool{}
	for i, p := range m.RuntimeRequirements.LocalPaths {
		path := elementPath("runtime_requirements.local_paths", i)
		if p.Default != "" && !filepath.IsLocal(p.Default) {
			ps.add(path+".default", quoteShort(p.Default)+" leads outside", "use a relative path without ..")
		}
		if p.Within != "" && !earlier[p.Within] {
			ps.add(path+".within", quoteShort(p.Within)+" is not the variable of an earlier path", "declare that path first")
		}
		earlier[p.PathEnv] = true
	}
}

// checkProfiles checks that profiles refer to existing streams and views.
func (ps *Problems) checkProfiles(m *Manifest) {
	seen := map[string]bool{}
	for i, p := range m.Profiles {
		path := elementPath("profiles", i)
		ps.rejectRepeated(seen, path+".id", p.ID)
		for j, chosen := range p.Streams {
			at := elementPath(path+".streams", j)
			s, ok := m.Stream(chosen.Name)
			switch {
			case chosen.Name == "":
			case !ok:
				ps.add(at+".name", quoteShort(chosen.Name)+" is not a stream of this manifest", "name a declared stream")
			case chosen.View != "" && s.View(chosen.View) == nil:
				ps.add(at+".view", quoteShort(chosen.View)+" is not a view of that stream", "name a declared view")
			}
		}
	}
}

// rejectRepeated rejects a repeated name.
func (ps *Problems) rejectRepeated(seen map[string]bool, path, name string) {
	if seen[name] && name != "" {
		ps.add(path, quoteShort(name)+" is used twice", "use a different name for each")
	}
	seen[name] = true
}

func (ps *Problems) checkSetup(s *Setup) {
	if s == nil {
		return
	}
	if s.Modality == ModalityStaticSecret && s.CredentialCapture == nil {
		ps.add(
			"setup.credential_capture",
			"is missing although the modality is static_secret",
			"describe the form that asks for the secret",
		)
	}
	ps.checkOAuth(s)
	if s.CredentialCapture == nil {
		return
	}
	if s.Modality == ModalityNone {
		ps.add("setup.credential_capture", "is present although the modality is none", "remove it or choose another modality")
	}
	names, variables := map[string]bool{}, map[string]int{}
	for i, f := range s.CredentialCapture.Fields {
		path := elementPath("setup.credential_capture.fields", i)
		ps.rejectRepeated(names, path+".name", f.Name)
		for j, name := range f.Env {
			if other, used := variables[name]; used && other != i {
				ps.add(
					elementPath(path+".env", j),
					quoteShort(name)+" already carries another field",
					"use separate variables for each field",
				)
			}
			variables[name] = i
		}
	}
}

func (ps *Problems) checkRefreshPolicy(p *RefreshPolicy) {
	if p == nil {
		return
	}
	const path = "capabilities.refresh_policy"
	if p.RecommendedIntervalSeconds > 0 && p.RecommendedIntervalSeconds < p.MinimumIntervalSeconds {
		ps.add(path+".recommended_interval_seconds",
			fmt.Sprintf("%d is below the minimum of %d", p.RecommendedIntervalSeconds, p.MinimumIntervalSeconds),
			"raise it, or lower minimum_interval_seconds")
	}
	friction := p.InteractionPosture == PostureOTPLikely || p.InteractionPosture == PostureManualActionLikely
	if friction && p.RecommendedMode == RefreshAutomatic && !p.AssistedAfterOwnerAuth {
		ps.add(path+".assisted_after_owner_auth",
			"is not true although the mode is automatic and the posture "+string(p.InteractionPosture),
			"set it to true if runs go on unattended after the owner signs in, or recommend manual")
	}
}
