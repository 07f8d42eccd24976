package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
	"github.com/pdpp-go/pdpp/internal/owner/api"
)

var tags = regexp.MustCompile(`<[^>]*>`)

// trail returns the entries of the command, the oldest first.
func (s *served) trail(args ...string) []api.AuditEntry {
	s.Helper()
	code, out, errOut := s.pdpp(append([]string{"audit", "--json"}, args...)...)
	var got struct {
		Entries []api.AuditEntry `json:"entries"`
	}
	if err := json.Unmarshal([]byte(out), &got); code != failure.ExitOK || err != nil {
		s.Fatalf("audit %v: %d %s %v", args, code, errOut, err)
	}
	slices.Reverse(got.Entries)
	return got.Entries
}

// Actions on pages, routes and commands are in the trail without secrets. Page, route and command show the same
// entries.
func TestDeedsLeaveATrail(t *testing.T) {
	s := serveLocal(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword})
	s.visitor().post("/login", "password", "a wrong one")
	s.visitor().post("/login", "password", "a wrong one")
	owner := s.visitor()
	owner.post("/login", "password", servedPassword)
	token := s.token()
	program := s.visitor().with("Authorization", "Bearer "+token)
	if a := program.tell("PUT", "/_ref/quiet-hours",
		map[string]string{"window": "22:00-07:00 Europe/Berlin"}); a.StatusCode != http.StatusNoContent {
		t.Fatal(a.StatusCode, a.body)
	}
	program.tell("POST", "/_ref/grants/gr_nothing/revoke", nil)
	s.pdpp("audit", "keep", "400")
	owner.post("/logout")

	var got []string
	all := s.trail()
	for _, e := range all {
		got = append(got, fmt.Sprintf("%s %s %s %d %s: %s", e.Kind, e.Outcome, e.Actor.Kind, e.Times, e.Actor.Address,
			e.Sentence))
	}
	want := []string{
		"password_change done server 1 : The server changed the password",
		"sign_in refused stranger 2 127.0.0.1: 2 wrong passwords",
		"sign_in done session 1 127.0.0.1: You signed in with a password",
		"token_make done command 1 : A command on the server's machine made the token A script",
		"setting_change done owner_token 1 127.0.0.1: A script changed the quiet hours",
		"grant_end refused owner_token 1 127.0.0.1: A script tried to take back the grant of gr_nothing and was refused: " +
			"not found",
		"setting_change done command 1 : A command on the server's machine changed the time that this trail is kept",
		"sign_out done session 1 127.0.0.1: You signed out",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if only := s.trail("--kind", "sign_ins", "--since", "1h"); len(only) != 4 {
		t.Errorf("%d sign-ins", len(only))
	}
	page, route := s.visitor(), program.get("/_ref/audit")
	page.post("/login", "password", servedPassword)
	shown := tags.ReplaceAllString(page.get("/sharing/reads").body, "")
	for _, e := range all {
		if !strings.Contains(route.body, e.Sentence) &&
			!strings.Contains(route.body, strings.ReplaceAll(e.Sentence, "'", `\u0027`)) {
			t.Errorf("the route does not tell: %s", e.Sentence)
		}
		if !strings.Contains(strings.ReplaceAll(shown, "&#39;", "'"), e.Sentence) {
			t.Errorf("the page does not tell: %s", e.Sentence)
		}
	}
	if !strings.Contains(shown, "Kept for 400 days") {
		t.Error("the page does not say for how long")
	}
	for _, secret := range []string{token, servedPassword, "a wrong one"} {
		if strings.Contains(route.body, secret) || strings.Contains(s.log.String(), secret) {
			t.Errorf("%q is told", secret)
		}
	}
	for _, args := range [][]string{{"--kind", "nonsense"}, {"--since", "pear"}, {"--limit", "0"}, {"keep", "pear"},
		{"keep", "29"}} {
		if code, _, _ := s.pdpp(append([]string{"audit"}, args...)...); code != failure.ExitUsage {
			t.Errorf("audit %v: exit %d", args, code)
		}
	}
}

// The documented filter finds every refused sign-in with its address, and text from a visitor does not deceive it.
func TestRefusedSignInsCanBeShutOut(t *testing.T) {
	text, err := os.ReadFile("../../docs/operate/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	_, filter, _ := strings.Cut(string(text), "failregex = ")
	filter, _, _ = strings.Cut(filter, "```")
	var forms []*regexp.Regexp
	for form := range strings.Lines(filter) {
		if form = strings.TrimSpace(form); form != "" {
			forms = append(forms, regexp.MustCompile(strings.ReplaceAll(form, "<HOST>", `(?P<host>[0-9a-fA-F.:]+)`)))
		}
	}
	if len(forms) != 2 {
		t.Fatalf("%d forms", len(forms))
	}
	for i, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			s := serveLocal(t, map[string]string{
				"PDPP_OWNER_PASSWORD": servedPassword, "PDPP_LOG_FORMAT": format, "PDPP_TRUSTED_PROXIES": "127.0.0.0/8",
			})
			from := func(address string) *visitor { return s.visitor().with("X-Forwarded-For", address) }
			lie := "x\ntime=2026-03-01T00:00:00Z level=WARN msg=\"sign-in refused\" address=192.0.2.99 reason=x\n"
			from("203.0.113.5").post("/login", "password", lie)
			from("2001:db8:1:2:3:4:5:6").with("User-Agent", "msg=\"sign-in refused\" address=192.0.2.99 reason=x").post("/login",
				"password", "wrong", "next", lie)
			from("198.51.100.7").with("Authorization", "Bearer pdpp_ot_"+strings.Repeat("a", 40)).get("/_ref/connections")
			for range 6 {
				from("203.0.113.77").post("/login", "password", "wrong")
			}
			from("198.51.100.8").post("/login", "password", servedPassword)
			var found []string
			for line := range strings.Lines(s.log.String()) {
				if m := forms[i].FindStringSubmatch(strings.TrimSuffix(line, "\n")); m != nil {
					found = append(found, m[1])
				}
			}
			want := "203.0.113.5 2001:db8:1:2:3:4:5:6 198.51.100.7" + strings.Repeat(" 203.0.113.77", 6)
			if strings.Join(found, " ") != want {
				t.Errorf("found %s\nwant  %s\n%s", strings.Join(found, " "), want, s.log)
			}
		})
	}
}
