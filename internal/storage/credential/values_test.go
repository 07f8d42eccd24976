package credential_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/credential"
	"github.com/pdpp-go/pdpp/manifest"
)

func lantern() *manifest.Manifest {
	return &manifest.Manifest{
		RuntimeRequirements: &manifest.RuntimeRequirements{
			EnvironmentVariables: []manifest.EnvironmentVariable{{Name: "LANTERN_REGION"}},
		},
		Setup: &manifest.Setup{CredentialCapture: &manifest.CredentialCapture{Fields: []manifest.CredentialField{
			{Name: "user", Label: "user name", Required: true, Env: []string{"LANTERN_USER"}},
			{Name: "password", Label: "password", Required: true, Secret: true,
				Env: []string{"LANTERN_PASSWORD", "LANTERN_PASS"}},
			{Name: "pin", Label: "PIN", Env: []string{"LANTERN_PIN"}},
		}}},
	}
}

func TestValuesAreChecked(t *testing.T) {
	full := func(add map[string]string) map[string]string {
		out := map[string]string{"LANTERN_USER": "ann", "LANTERN_PASS": hidden}
		for k, v := range add {
			out[k] = v
		}
		return out
	}
	if _, err := credential.NewValues(lantern(), full(map[string]string{"LANTERN_REGION": "north"})); err != nil {
		t.Errorf("a full set is refused: %v", err)
	}
	for name, given := range map[string]map[string]string{
		"undeclared": full(map[string]string{"PATH": "/x"}), "missing": {"LANTERN_USER": "ann"},
		"empty":    full(map[string]string{"LANTERN_PASS": ""}),
		"null":     full(map[string]string{"LANTERN_PIN": "a\x00b"}),
		"not text": full(map[string]string{"LANTERN_PIN": "a\xffb"}),
		"long":     full(map[string]string{"LANTERN_PIN": strings.Repeat("x", 70<<10)}), "nothing": {},
	} {
		_, err := credential.NewValues(lantern(), given)
		var e *usererr.Error
		if !errors.As(err, &e) || e.Code != credential.CodeInvalid || e.NextStep() == "" ||
			strings.Contains(err.Error(), hidden) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := credential.NewValues(&manifest.Manifest{}, nil); code(err) != credential.CodeInvalid {
		t.Errorf("nothing for a connector without credentials: %v", err)
	}
}

func TestValuesAreSealedForTheirConnection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.MapOf(rapid.StringMatching(`[A-Z][A-Z0-9_]{0,9}`), rapid.String()).Draw(t, "values")
		v := credential.Values{}
		for name, value := range plain {
			v[name] = credential.NewSecret(value)
		}
		sealed := v.SealFor(testKey, "cin_1")
		got, err := credential.OpenFor(testKey, "cin_1", sealed)
		if err != nil || !cmp.Equal(plain, got.Reveal()) {
			t.Fatalf("opened %v, %v", got.Reveal(), err)
		}
		if testKey.FingerprintOf(v) != testKey.FingerprintOf(got) {
			t.Fatal("equal values have different fingerprints")
		}
		if _, err := credential.OpenFor(testKey, "cin_2", sealed); !errors.Is(err, credential.ErrDamaged) {
			t.Fatalf("opens for another connection: %v", err)
		}
	})
}

func TestFingerprintTellsSecretsApart(t *testing.T) {
	a, b := credential.Values{"A": credential.NewSecret("one")}, credential.Values{"A": credential.NewSecret("two")}
	if testKey.FingerprintOf(a) == testKey.FingerprintOf(b) ||
		testKey.FingerprintOf(a) == credential.NewKey().FingerprintOf(a) {
		t.Error("fingerprints do not depend on value and key")
	}
	if len(testKey.FingerprintOf(a)) != 8 {
		t.Errorf("fingerprint = %s", testKey.FingerprintOf(a))
	}
}

func TestSealedTextThatIsNoCredential(t *testing.T) {
	sealed := testKey.Seal("connection/cin_1", []byte(`{"A":{"`+hidden+`":1}}`))
	_, err := credential.OpenFor(testKey, "cin_1", sealed)
	if !errors.Is(err, credential.ErrDamaged) || strings.Contains(err.Error(), hidden) {
		t.Errorf("opened as %v", err)
	}
}
