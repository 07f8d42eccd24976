package catalog

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/manifest"
)

const minimal = `{"protocol_version":"0.1.0","connector_id":"NAME","version":"1","display_name":"X","streams":[
 {"name":"notes","semantics":"append_only","primary_key":"id","schema":{"type":"object",` +
	`"properties":{"id":{"type":"string"}}}}]}`

// install writes a foreign connector's folder; a mode of 0 leaves the executable out.
func install(t *testing.T, dir, name, body string, mode os.FileMode) {
	t.Helper()
	folder := filepath.Join(dir, name)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(file, text string, mode os.FileMode) {
		if err := os.WriteFile(filepath.Join(folder, file), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("manifest.json", body, 0o644)
	if mode != 0 {
		write("connector", "#!/bin/sh\n", mode)
	}
}

// host writes a program that answers as pdpp-connectors does.
func host(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "host")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func named(name string) string { return strings.ReplaceAll(minimal, "NAME", name) }

func TestForeignConnector(t *testing.T) {
	dir := t.TempDir()
	install(t, dir, "weather", named("weather"), 0o755)
	c, err := Catalog{Dir: dir}.Find(t.Context(), "weather")
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "weather" || c.Builtin || c.Path != filepath.Join(dir, "weather", "connector") || len(c.Args) != 0 ||
		c.Manifest.Key() != "weather" {
		t.Errorf("connector = %+v", c)
	}
	t.Chdir(dir) // a relative directory returns an absolute path, because the child has another working directory
	if c, err := (Catalog{Dir: "."}).Find(t.Context(), "weather"); err != nil || !filepath.IsAbs(c.Path) {
		t.Errorf("path = %s, %v", c.Path, err)
	}
}

func TestForeignConnectorFaults(t *testing.T) {
	dir := t.TempDir()
	install(t, dir, "headless", named("headless"), 0)
	install(t, dir, "limp", named("limp"), 0o644)
	install(t, dir, "masked", named("github"), 0o755)
	install(t, dir, "broken", `{"protocol_version":"9","connector_id":"broken","version":"1","display_name":"X",`+
		`"colour":"red","streams":[{"name":"notes"}]}`, 0o755)
	install(t, dir, "garbled", "{", 0o755)
	install(t, dir, "session", strings.Replace(named("session"), `"streams"`, `"runtime_requirements":`+
		`{"environment_variables":[{"name":"PDPP_SESSION_KEY","required":true,"secret":true}]},"streams"`, 1), 0o755)
	if err := os.MkdirAll(filepath.Join(dir, "folder", "connector"), 0o755); err != nil {
		t.Fatal(err)
	}
	install(t, dir, "folder", named("folder"), 0)
	catalog := Catalog{Dir: dir}
	for name, want := range map[string]string{
		"headless": "connector: is missing; add the executable under this name",
		"limp":     "connector: is not executable; run chmod +x on it",
		"folder":   "connector: is not a file",
		"masked":   "unknown_connector: masked; installed are: broken, folder, garbled, headless, limp, github, session",
		"session":  "needs PDPP_SESSION_KEY, a name that the server keeps for itself; choose another connector_key",
		"garbled":  "connector garbled cannot be used: manifest.json: read manifest as JSON",
	} {
		if _, err := catalog.Find(t.Context(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error = %v, want %q in it", name, err, want)
		}
	}
	_, err := catalog.Find(t.Context(), "broken")
	var problems manifest.Problems
	if !errors.As(err, &problems) {
		t.Fatalf("error = %v", err)
	}
	for _, path := range []string{"protocol_version", "streams[0].semantics", "streams[0].schema",
		"streams[0].primary_key"} {
		if !strings.Contains(err.Error(), path) {
			t.Errorf("%s is not on the list of problems:\n%v", path, err)
		}
	}
}

func TestUnknownConnectorNamesWhatIsInstalled(t *testing.T) {
	dir := t.TempDir()
	install(t, dir, "weather", named("weather"), 0o755)
	elsewhere := t.TempDir()
	install(t, elsewhere, "linked", named("linked"), 0o755)
	if err := os.Symlink(filepath.Join(elsewhere, "linked"), filepath.Join(dir, "linked")); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"empty", "Not-A-Name"} { // no manifest; no connector name
		if err := os.Mkdir(filepath.Join(dir, other), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	catalog := Catalog{Host: host(t, `echo '[{"name":"github"},{"name":"gmail"}]'`), Dir: dir}
	for _, name := range []string{"whether", "empty"} {
		_, err := catalog.Find(t.Context(), name)
		if !errors.Is(err, ErrUnknownConnector) ||
			!strings.Contains(err.Error(), "installed are: github, gmail, linked, weather") {
			t.Errorf("%s: error = %v", name, err)
		}
	}
	for _, name := range []string{"", "..", "../weather", "a/b", "Weather", strings.Repeat("w", 65)} {
		if _, err := catalog.Find(t.Context(), name); !errors.Is(err, ErrUnknownConnector) ||
			!strings.Contains(err.Error(), "is not a connector name") {
			t.Errorf("%q: error = %v", name, err)
		}
	}
	if names, err := (Catalog{Dir: filepath.Join(dir, "nowhere")}).Names(t.Context()); err != nil || len(names) > 0 {
		t.Errorf("a directory that does not exist holds %v, %v", names, err)
	}
}

func TestBuiltinConnector(t *testing.T) {
	dir := t.TempDir()
	install(t, dir, "github", named("github"), 0o755)
	path := host(t, `[ -z "$HOME$PDPP_HOME" ] || exit 3
case "$*" in
"list --json --names") echo '[{"name":"github"}]' ;;
"manifest github") cat <<'END'
`+named("github")+`
END
;;
*) echo "no such question: $*" >&2; exit 2 ;;
esac`)
	t.Setenv("PDPP_HOME", "not for the host")
	c, err := Catalog{Host: path, Dir: dir}.Find(t.Context(), "github")
	if err != nil {
		t.Fatal(err)
	}
	want := Connector{Name: "github", Builtin: true, Path: path, Args: []string{"run", "github"}} // not the foreign one
	c.Manifest = nil
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("connector (-want +got):\n%s", diff)
	}
}

func TestHostFaults(t *testing.T) {
	for script, want := range map[string]string{
		`echo "out of order" >&2; exit 4`: "ask host list: exit status 4: out of order",
		`echo nonsense`:                   "read the list of built-in connectors",
		`[ "$1" = list ] && echo '[{"name":"github"}]' || echo '{}'`: "manifest of connector github",
	} {
		if _, err := (Catalog{Host: host(t, script)}).Find(t.Context(), "github"); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %q in it", err, want)
		}
	}
}

// A connector is identified by its key, whatever the name of its folder, with a hyphen or an underscore. Of two with
// one key, the same one is always found.
func TestConnectorIsKnownByItsKey(t *testing.T) {
	dir := t.TempDir()
	hyphenated := strings.Replace(named("rain-gauge"), `"version"`, `"connector_key":"rain-gauge","version"`, 1)
	install(t, dir, "rain-gauge", hyphenated, 0o755)
	install(t, dir, "unpacked-main", named("weather"), 0o755)
	install(t, dir, "a-copy", named("weather"), 0o755)
	install(t, dir, "github", named("github"), 0o755)
	install(t, dir, "Broken Thing", `{"version":7}`, 0o755)
	catalog := Catalog{Host: host(t, `[ "$1" = list ] && echo '[{"name":"github"}]' || cat <<'END'
`+named("github")+`
END`), Dir: dir}
	for name, folder := range map[string]string{"rain_gauge": "rain-gauge", "rain-gauge": "rain-gauge",
		"weather": "a-copy", "github": "", "github_folder": "github"} {
		c, err := catalog.Find(t.Context(), name)
		if err != nil || c.Name != manifest.CanonicalKey(name) || folder == "" != c.Builtin || folder != "" &&
			filepath.Base(c.Dir) != folder {
			t.Errorf("%s is %+v, %v", name, c, err)
		}
	}
	all, err := catalog.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range all {
		line := e.Name + " " + filepath.Base(e.Dir)
		if e.Err != nil {
			line += " unusable"
		}
		if e.Shadowed {
			line += " shadowed"
		}
		got = append(got, line)
	}
	want := []string{"github .", "Broken Thing Broken Thing unusable", "weather a-copy", "github_folder github",
		"rain_gauge rain-gauge", "weather unpacked-main shadowed"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("installed (-want +got):\n%s", diff)
	}
}

// What the owner confirms covers every file that is a program, and nothing that a connector
// keeps for itself.
func TestDemandCoversPrograms(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	write := func(path, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	install(t, dir, "weather", named("weather"), 0o755)
	write(at("weather", "lib", "wind.py"), "one")
	write(at("weather", "data", "fetched.py"), "one")
	install(t, dir, "tap", named("tap"), 0)
	write(filepath.Join(elsewhere, "tap.py"), "one")
	write(at("tap", "adapter.json"),
		`{"command":["/bin/sh","`+filepath.Join(elsewhere,
			"tap.py")+`","--fast"],"paths":["`+elsewhere+`"],"hosts":["tides.example"]}`)
	cat := Catalog{Dir: dir, Host: host(t, "echo '[]'")}
	for name, c := range map[string]struct {
		scripts []string
		covered string
	}{
		"weather": {[]string{"lib/wind.py"}, at("weather", "lib", "wind.py")},
		"tap":     {[]string{filepath.Join(elsewhere, "tap.py")}, filepath.Join(elsewhere, "tap.py")},
	} {
		demand := func() Demand {
			t.Helper()
			found, err := cat.Find(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			d, err := found.Demand()
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		confirmed := demand()
		if diff := cmp.Diff(c.scripts, confirmed.Scripts); diff != "" {
			t.Errorf("%s: scripts %s", name, diff)
		}
		if name == "tap" && (!slices.Contains(confirmed.Paths, elsewhere) ||
			!slices.Contains(confirmed.Hosts, "tides.example")) {
			t.Errorf("the rights in adapter.json are not shown: %+v", confirmed)
		}
		for _, own := range []string{"state.json", "__pycache__/wind.pyc", "cache.db", "data/fetched.py"} {
			write(at(name, own), "kept by itself")
		}
		if !demand().Within(confirmed) {
			t.Errorf("%s: what it keeps for itself changed what it is", name)
		}
		write(c.covered, "two")
		if demand().Within(confirmed) {
			t.Errorf("%s: another %s was not noticed", name, c.covered)
		}
		write(c.covered, "one")
		for from, to := range map[string]string{
			`"display_name":"X"`: `"display_name":"Y"`,
			`"streams"`: `"browser":{"hosts":["other.example"]},"runtime_requirements":{"bindings":{"browser":{}}},` +
				`"streams"`,
			`"version":"1"`: `"version":"1","setup":{"modality":"static_secret",` +
				`"credential_capture":{"kind":"access_token","fields":[{"name":"t","label":"T","type":"password",` +
				`"required":true,"secret":true,"env":["OTHER_TOKEN"]}]}}`,
		} {
			write(at(name, "manifest.json"), strings.Replace(named(name), from, to, 1))
			if demand().Within(confirmed) {
				t.Errorf("%s: another manifest was not noticed: %s", name, to)
			}
		}
		write(at(name, "manifest.json"), named(name))
		if !demand().Within(confirmed) {
			t.Errorf("%s: the manifest that was confirmed is refused", name)
		}
		write(at(name, "json.py"), "new")
		if demand().Within(confirmed) {
			t.Errorf("%s: a new program file was not noticed", name)
		}
	}
}
