package collector

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"

	"pgregory.net/rapid"
)

func mistakeOf(t *testing.T, err error, code string) *usererr.Error {
	t.Helper()
	var mistake *usererr.Error
	if !errors.As(err, &mistake) || mistake.Code != code {
		t.Fatalf("error %v, want the operator error %s", err, code)
	}
	if strings.Contains(mistake.Message+mistake.Next, secret) {
		t.Errorf("the token shows in %q", mistake.Message)
	}
	return mistake
}

const whole = "PDPP_REFERENCE_BASE_URL=https://pdpp.example\nPDPP_LOCAL_DEVICE_ID=dev_attic\nPDPP_LOCAL_DEVICE_TOKEN=" +
	secret +
	"\nPDPP_CONNECTION_ID=dsrc_attic_1\nPDPP_CONNECTOR_ID=diary\n"

func profilesWith(t *testing.T, files map[string]string) Dirs {
	t.Helper()
	dir := t.TempDir()
	d := Dirs{Profiles: filepath.Join(dir, "profiles"), State: filepath.Join(dir, "state")}
	if err := os.Mkdir(d.Profiles, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, body := range files {
		if err := os.WriteFile(filepath.Join(d.Profiles, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func TestFindReadsContentNotNames(t *testing.T) {
	d := profilesWith(t, map[string]string{
		"old-name.env": whole + "# a comment\n\nPDPP_DIARY_REGION=north\nDIARY_FILE=/home/ada/diary=2.txt\n",
		"notes.txt":    "not a profile",
		"other.env": strings.Replace(whole, "PDPP_CONNECTION_ID=dsrc_attic_1", "PDPP_SOURCE_INSTANCE_ID=dsrc_cellar", 1) +
			"PDPP_COLLECTOR_QUEUE=/var/lib/q.sqlite\n",
	})
	p, err := Find(d, "dsrc_attic_1")
	if err != nil || p.Queue != filepath.Join(d.State, "diary-dsrc_attic_1.sqlite") || p.Token.reveal() != secret ||
		p.BaseURL != "https://pdpp.example" ||
		p.DeviceID != "dev_attic" ||
		!maps.Equal(p.Variables, map[string]string{"PDPP_DIARY_REGION": "north", "DIARY_FILE": "/home/ada/diary=2.txt"}) {
		t.Errorf("%+v, %v", p, err)
	}
	if p, err = Find(d, "dsrc_cellar"); err != nil || p.Queue != "/var/lib/q.sqlite" {
		t.Errorf("by the alias: %+v, %v", p, err)
	}
}

func TestFindRefuses(t *testing.T) {
	bad := map[string]struct {
		files    map[string]string
		id, code string
	}{
		"no folder":     {nil, "dsrc_attic_1", "profile_not_found"},
		"other id":      {map[string]string{"dsrc_2.env": whole}, "dsrc_2", "profile_not_found"},
		"two":           {map[string]string{"a.env": whole, "b.env": whole}, source, "profile_ambiguous"},
		"path":          {map[string]string{"a.env": whole}, "../a", "invalid_source_instance_id"},
		"empty id":      {nil, "", "invalid_source_instance_id"},
		"twice":         {map[string]string{"a.env": whole + "PDPP_CONNECTOR_ID=other\n"}, source, "profile_invalid"},
		"alias differs": {map[string]string{"a.env": whole + "PDPP_SOURCE_INSTANCE_ID=x\n"}, source, "profile_invalid"},
		"shell":         {map[string]string{"a.env": "export " + whole}, source, "profile_invalid"},
		"quotes":        {map[string]string{"a.env": whole + "DIARY_FILE=\"x\"\n"}, source, "profile_invalid"},
		"relative queue": {map[string]string{"a.env": whole + "PDPP_COLLECTOR_QUEUE=q.sqlite\n"}, source,
			"profile_invalid"},
		"misspelt variable": {map[string]string{"a.env": whole + "PDPP_COLECTOR_QUEUE=/q.sqlite\n"}, source,
			"profile_invalid"},
		"no token": {map[string]string{"a.env": strings.Replace(whole, secret, "", 1)}, source, "profile_invalid"},
		"token with spaces": {map[string]string{"a.env": strings.Replace(whole, secret, "a b", 1)}, source,
			"profile_invalid"},
		"user in address": {map[string]string{"a.env": strings.Replace(whole, "pdpp.example", "ada@pdpp.example", 1)},
			source, "profile_invalid"},
		"control character": {map[string]string{"a.env": whole + "DIARY_FILE=a\x01b\n"}, source, "profile_invalid"},
		"connector path": {map[string]string{"a.env": strings.Replace(whole, "=diary", "=../diary", 1)}, source,
			"profile_invalid"},
		"too large": {map[string]string{"a.env": whole + "# " + strings.Repeat("x", maxProfileBytes)}, source,
			"profile_invalid"},
	}
	for name, tt := range bad {
		t.Run(name, func(t *testing.T) {
			_, err := Find(profilesWith(t, tt.files), tt.id)
			mistakeOf(t, err, tt.code)
		})
	}
}

// TestAddresses holds which addresses a profile may have, each with one thing wrong at most.
func TestAddresses(t *testing.T) {
	for address, ok := range map[string]bool{
		"https://pdpp.example/base": true, "http://127.0.0.1:8080": true, "http://[::1]:1": true, "http://localhost": true,
		"http://pdpp.example": false, "ftp://pdpp.example": false, "https://": false, "https://ada@pdpp.example": false,
		"https://pdpp.example?a=b": false, "https://pdpp.example#a": false, "https://pdpp.example:x": false, "": false,
	} {
		if err := checkAddress(address, false); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
	if err := checkAddress("http://pdpp.example", true); err != nil {
		t.Error(err)
	}
}

func TestFileThatOthersReadIsRefused(t *testing.T) {
	for _, mode := range []os.FileMode{0o640, 0o604, 0o660, 0o644} {
		d := profilesWith(t, map[string]string{"a.env": whole})
		path := filepath.Join(d.Profiles, "a.env")
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := Find(d, source)
		if m := mistakeOf(t, err, "profile_permissions"); m.Next != "chmod 600 '"+path+"'" {
			t.Errorf("next step %q", m.Next)
		}
	}
	d := profilesWith(t, map[string]string{"a.env": whole})
	if err := os.Chmod(d.Profiles, 0o770); err != nil {
		t.Fatal(err)
	}
	_, err := Find(d, source)
	mistakeOf(t, err, "profile_permissions")
}

func TestResolveTakesACompleteEnvironmentAlone(t *testing.T) {
	none := profilesWith(t, nil)
	complete := map[string]string{envBaseURL: "https://pdpp.example", envDeviceID: device, envToken: secret,
		envSource:    source,
		envConnector: "diary", envQueue: "/var/lib/pdpp/q.sqlite"}
	lookup := func(vars map[string]string) func(string) (string, bool) {
		return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
	}
	p, err := Resolve(none, source, lookup(complete))
	if err != nil || p.Queue != "/var/lib/pdpp/q.sqlite" || p.Path != "" {
		t.Errorf("%+v, %v", p, err)
	}
	_, err = Resolve(none, "dsrc_other", lookup(complete))
	mistakeOf(t, err, "environment_mismatch")
	for name := range complete {
		part := maps.Clone(complete)
		delete(part, name)
		_, err := Resolve(none, source, lookup(part))
		if name == envQueue { // without a queue there is nothing to recover from, and no default is guessed
			mistakeOf(t, err, "profile_not_found")
		} else {
			mistakeOf(t, err, "environment_invalid")
		}
	}
	// A profile comes before the environment.
	if p, err = Resolve(profilesWith(t, map[string]string{"a.env": whole}), source, lookup(complete)); err != nil ||
		p.Queue == "/var/lib/pdpp/q.sqlite" {
		t.Errorf("%+v, %v", p, err)
	}
}

func TestDirs(t *testing.T) {
	for _, tt := range []struct {
		vars            map[string]string
		profiles, state string
	}{
		{map[string]string{"HOME": "/home/ada"}, "/home/ada/.config/pdpp/collectors",
			"/home/ada/.local/state/pdpp/collectors"},
		{map[string]string{"HOME": "/home/ada", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"}, "/c/pdpp/collectors",
			"/s/pdpp/collectors"},
		{map[string]string{"HOME": "/home/ada", envProfileDir: "/p"}, "/p", "/home/ada/.local/state/pdpp/collectors"},
		{map[string]string{"HOME": "/home/ada", "XDG_CONFIG_HOME": "relative"}, "/home/ada/.config/pdpp/collectors",
			"/home/ada/.local/state/pdpp/collectors"},
	} {
		d, err := DirsFrom(func(name string) (string, bool) { v, ok := tt.vars[name]; return v, ok })
		if err != nil || d.Profiles != tt.profiles || d.State != tt.state {
			t.Errorf("%v: %+v, %v", tt.vars, d, err)
		}
	}
	_, err := DirsFrom(func(string) (string, bool) { return "", false })
	mistakeOf(t, err, "no_home")
}

func TestWriteProfile(t *testing.T) {
	dir := t.TempDir()
	d := Dirs{Profiles: filepath.Join(dir, "deep", "profiles"), State: filepath.Join(dir, "state")}
	p := Profile{BaseURL: "https://pdpp.example/", DeviceID: device, Token: WrapToken(secret), SourceInstanceID: source,
		ConnectorID: "diary", Queue: "/var/lib/q.sqlite"}
	written, err := WriteProfile(d, p, false)
	if err != nil || written.Path != filepath.Join(d.Profiles, source+".env") {
		t.Fatalf("%+v, %v", written, err)
	}
	for path, want := range map[string]os.FileMode{d.Profiles: 0o700, written.Path: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	_, err = WriteProfile(d, p, false)
	mistakeOf(t, err, "profile_exists")
	// What was added by hand and the queue survive being written again.
	body, _ := os.ReadFile(written.Path)
	if err := os.WriteFile(written.Path, append(body, "DIARY_FILE=/home/ada/diary\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	p.Queue, p.Token = "", WrapToken("another")
	if _, err = WriteProfile(d, p, true); err != nil {
		t.Fatal(err)
	}
	found, err := Find(d, source)
	if err != nil || found.Queue != "/var/lib/q.sqlite" || found.Token.reveal() != "another" ||
		found.Variables["DIARY_FILE"] != "/home/ada/diary" {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestEnvRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		vars := rapid.MapOf(rapid.StringMatching(`[A-Z][A-Z0-9_]{0,8}`),
			rapid.String().Filter(func(s string) bool { return checkValue(s) == nil })).Draw(t, "vars")
		body, err := formatEnv(vars, "A", "B")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := parseEnv(body); err != nil || !maps.Equal(got, vars) {
			t.Fatalf("%q: %v, %v", body, got, err)
		}
	})
}

func FuzzParseEnv(f *testing.F) {
	for _, seed := range []string{whole, "A=1\r\nB=\n#C=2", "A", "=x", "A= x", "A='x'", "A=\x00", "\xff=1", "A=1\nA=2"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		vars, err := parseEnv(body)
		if err != nil {
			return
		}
		again, err := formatEnv(vars)
		if err != nil {
			t.Fatalf("%q is read and cannot be written: %v", body, err)
		}
		if got, err := parseEnv(again); err != nil || !maps.Equal(got, vars) {
			t.Fatalf("%q became %q", body, again)
		}
	})
}
