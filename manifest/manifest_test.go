package manifest

import (
	"slices"
	"testing"
)

func TestKey(t *testing.T) {
	cases := []struct{ id, key, want, prefix string }{
		{"https://registry.example/connectors/fern-post", "fernpost", "fernpost", "PDPP_FERNPOST"},
		{"https://registry.example/connectors/fern-post", "", "fern_post", "PDPP_FERN_POST"},
		{"https://registry.example/connectors/Fern.Post/", "", "fern_post", "PDPP_FERN_POST"},
		{"https://registry.example/fernpost?v=2#top", "", "fernpost", "PDPP_FERNPOST"},
		{"fernpost", "", "fernpost", "PDPP_FERNPOST"},
		{"fernpost", "fern-post", "fern_post", "PDPP_FERN_POST"},
		{"https://registry.example/42", "", "", "PDPP_"},
		{"", "", "", "PDPP_"},
	}
	for _, c := range cases {
		m := Manifest{ConnectorID: c.id, ConnectorKey: c.key}
		if got := m.Key(); got != c.want {
			t.Errorf("Key of %q, %q = %q, want %q", c.id, c.key, got, c.want)
		}
		if got := m.EnvPrefix(); got != c.prefix {
			t.Errorf("EnvPrefix of %q, %q = %q, want %q", c.id, c.key, got, c.prefix)
		}
	}
}

func TestVariables(t *testing.T) {
	m := parse(t, example(t))
	all := []string{
		"FERNPOST_ADDRESS",
		"FERNPOST_APP_PASSWORD",
		"FERNPOST_ARCHIVE_DIR",
		"FERNPOST_CLIENT_ID",
		"FERNPOST_CLIENT_SECRET",
		"FERNPOST_COPIES_DIR",
		"FERNPOST_HOME",
		"FERNPOST_MIRROR",
		"FERNPOST_PASSWORD",
		"FERNPOST_REFRESH_TOKEN",
		"FERNPOST_REGION",
		"FERNPOST_SEAL_KEY",
		"FERNPOST_TOKEN_KIND",
		"FERNSEAL_BIN",
		"PDPP_FERNPOST_PAGE_SIZE",
	}
	if got := m.EnvNames(); !slices.Equal(got, all) {
		t.Errorf("EnvNames = %v, want %v", got, all)
	}
	credentials := []string{"FERNPOST_ADDRESS", "FERNPOST_APP_PASSWORD", "FERNPOST_PASSWORD", "FERNPOST_SEAL_KEY"}
	if got := m.CredentialEnv(); !slices.Equal(got, credentials) {
		t.Errorf("CredentialEnv = %v, want %v", got, credentials)
	}
	if got := m.SecretEnv(); slices.Contains(got, "FERNPOST_REGION") || !slices.Contains(got, "FERNPOST_SEAL_KEY") ||
		!slices.Contains(got, "FERNPOST_PASSWORD") {
		t.Errorf("SecretEnv = %v", got)
	}
	both := parse(
		t,
		edited(t, edits{"runtime_requirements.environment_variables[3]": map[string]any{"name": "FERNPOST_ADDRESS"}}),
	)
	if got := both.EnvNames(); !slices.Equal(got, all) {
		t.Errorf("EnvNames = %v, want %v", got, all)
	}
	if m := skeleton(); len(m.EnvNames()) != 0 || len(m.CredentialEnv()) != 0 {
		t.Error("variables appear from nowhere")
	}
}

func TestStreamsByName(t *testing.T) {
	m := parse(t, example(t))
	s, ok := m.Stream("letters")
	if !ok || s != &m.Streams[1] {
		t.Errorf("Stream(letters) = %v, %v", s, ok)
	}
	if s, ok := m.Stream("parcels"); ok || s != nil {
		t.Errorf("Stream(parcels) = %v, %v", s, ok)
	}
	if got := m.DetailStreams("letters"); !slices.Equal(got, []string{"letter_bodies"}) {
		t.Errorf("DetailStreams(letters) = %v", got)
	}
	if got := m.DetailStreams("letter_bodies"); got != nil {
		t.Errorf("DetailStreams(letter_bodies) = %v", got)
	}
}

func TestStreamDefaults(t *testing.T) {
	no := false
	absent, stated := Stream{}, Stream{Required: &no, CoveragePolicy: PolicyDeferred, Checkpoint: CheckpointSlice}
	if !absent.IsRequired() || absent.Policy() != PolicyCollect || absent.Commit() != CheckpointRun {
		t.Errorf("defaults are %v, %s, %s", absent.IsRequired(), absent.Policy(), absent.Commit())
	}
	if stated.IsRequired() || stated.Policy() != PolicyDeferred || stated.Commit() != CheckpointSlice {
		t.Errorf("stated values are %v, %s, %s", stated.IsRequired(), stated.Policy(), stated.Commit())
	}
}

func TestRequiredBindings(t *testing.T) {
	if got, want := parse(
		t,
		example(t),
	).RequiredBindings(),
		[]Binding{
			BindingFilesystem,
			BindingNetwork,
		}; !slices.Equal(
		got,
		want,
	) {
		t.Errorf("RequiredBindings = %v, want %v", got, want)
	}
	if got := skeleton().RequiredBindings(); got != nil {
		t.Errorf("RequiredBindings of nothing = %v", got)
	}
}
