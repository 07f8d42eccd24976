package catalog

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/manifest"
)

// given returns the variables that a connector of that key gets of those that it declares, when all have values.
func given(key string, names ...string) map[string]bool {
	m := hostile(names...)
	m.ConnectorKey = key
	out := map[string]bool{}
	for _, pair := range (Connector{Manifest: m}).Command(nil,
		func(name string) (string, bool) { return "value of " + name, true }).Env {
		name, _, _ := strings.Cut(pair, "=")
		out[name] = true
	}
	return out
}

// A connector may choose its name and so its prefix: a connector named backup could declare PDPP_BACKUP_PASSPHRASE. No
// connector gets a variable of the server.
func TestServerVariablesAreNeverGiven(t *testing.T) {
	refused := []string{
		"PDPP_OWNER_PASSWORD", "PDPP_OWNER_PASSWORD_FILE", "PDPP_OWNER_TOKEN", "PDPP_DATABASE_URL", "PDPP_DATABASE_URL_FILE",
		"PDPP_CREDENTIAL_ENCRYPTION_KEY", "PDPP_CREDENTIAL_ENCRYPTION_KEY_FILE", "PDPP_HOME", "PDPP_HOME_FILE",
		"PDPP_WEB_PUSH_PRIVATE_KEY",
		"PDPP_WEB_PUSH_PRIVATE_KEY_FILE", "PDPP_STREAMING_REGISTRATION_TOKEN", "PDPP_BACKUP_PASSPHRASE",
		"PDPP_BACKUP_PASSPHRASE_FILE", "PDPP_TOKEN",
		"PDPP_SERVER", "PDPP_BASE_URL", "PDPP_CONNECT_PASSWORD", "PDPP_ANSWER_CODE", "PDPP_NOTIFY_SECRET",
		"PDPP_LOCAL_DEVICE_TOKEN", "pdpp_owner_password",
		"DATABASE_URL", "PGPASSWORD", "PGPASSFILE", "OTEL_EXPORTER_OTLP_HEADERS", "HOME", "LD_PRELOAD", "SSH_AUTH_SOCK",
		"DBUS_SESSION_BUS_ADDRESS",
	}
	for _, name := range refused {
		word := strings.TrimPrefix(strings.ToUpper(name), "PDPP_")
		for _, key := range []string{"sample", strings.ToLower(word), strings.ToLower(strings.SplitN(word, "_", 2)[0])} {
			if given(key, name)[name] {
				t.Errorf("%s is given to the connector %s", name, key)
			}
		}
	}
	if got := given("sample", "PDPP_OTHER_TOKEN"); got["PDPP_OTHER_TOKEN"] {
		t.Error("a connector is given another one's variable")
	}
	if got := given("sample", "SAMPLE_TOKEN", "PDPP_SAMPLE_TOKEN"); !got["SAMPLE_TOKEN"] || !got["PDPP_SAMPLE_TOKEN"] {
		t.Errorf("its own variables are withheld: %v", got)
	}
}

// No connector gets a variable that the programs read by name. A new one with a first word that is not on the list
// fails here.
func TestEveryVariableOfTheProgramsIsTheServers(t *testing.T) {
	name := regexp.MustCompile(`"(PDPP_[A-Z][A-Z_]*[A-Z])"`)
	seen := 0
	for _, dir := range []string{"../../../cmd", "../../../internal"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.Contains(path, "/demo/") || strings.Contains(path, "/tools/") || strings.Contains(path, "test/") {
				return err
			}
			body, err := os.ReadFile(path)
			for _, m := range name.FindAllStringSubmatch(string(body), -1) {
				seen++
				if !isServerVariable(m[1]) {
					t.Errorf("%s reads %s, which a connector could be given: add its first word to the list", path, m[1])
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 20 {
		t.Errorf("only %d variables were found", seen)
	}
}

// A declared path becomes readable. A path that would open a private folder keeps the connector from starting, however
// it leads there.
func TestDeclaredPaths(t *testing.T) {
	dir := t.TempDir()
	home, diary := filepath.Join(dir, "ada", ".pdpp"), filepath.Join(dir, "ada", "diary")
	for _, folder := range []string{home, diary} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(diary, "entry.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(diary, "chat.db-wal")
	for _, file := range []string{"chat.db", "chat.db-wal"} {
		if err := os.WriteFile(filepath.Join(diary, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(diary, "link")
	if err := os.Symlink(home, link); err != nil {
		t.Fatal(err)
	}
	m := &manifest.Manifest{ConnectorKey: "sample",
		RuntimeRequirements: &manifest.RuntimeRequirements{LocalPaths: []manifest.LocalPath{{PathEnv: "SAMPLE_DIR"}}}}
	for path, fine := range map[string]bool{
		diary: true, filepath.Join(diary, "entry.txt"): true, "": true, "relative": true,
		home: false, filepath.Join(dir, "ada"): false, dir: false, "/": false, link: false,
		filepath.Join(home, "secret.key"): false, diary + "/../.pdpp": false,
	} {
		c := Connector{Manifest: m, Path: "/bin/true", Private: []string{home}}
		cmd := c.Command(nil, func(name string) (string, bool) { return path, name == "SAMPLE_DIR" })
		if (cmd.Refusal == nil) != fine {
			t.Errorf("%q: refusal %v", path, cmd.Refusal)
		}
		if given := len(cmd.Limits.Read) == 1 && cmd.Limits.Read[0] == path; given != (fine && filepath.IsAbs(path)) {
			t.Errorf("%q: may read %v", path, cmd.Limits.Read)
		}
	}
	// A database file comes with its log, or the last writes would be missing.
	c := Connector{Manifest: m, Path: "/bin/true", Private: []string{home}}
	database := filepath.Join(diary, "chat.db")
	cmd := c.Command(nil, func(name string) (string, bool) { return database, name == "SAMPLE_DIR" })
	if !slices.Equal(cmd.Limits.Read, []string{database, log}) {
		t.Errorf("of a single database it may read %v", cmd.Limits.Read)
	}
}
