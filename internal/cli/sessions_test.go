package cli

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
)

// The command lists signed-in browsers, and signs out one or all of them.
func TestSessionsAreEndedByTheCommand(t *testing.T) {
	s := serveLocal(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword})
	run := func(want int, args ...string) string {
		t.Helper()
		code, out, errOut := s.pdpp(args...)
		if code != want {
			t.Fatalf("%v: %d %s", args, code, errOut)
		}
		return out + errOut
	}
	in := func(v *visitor) bool { t.Helper(); return v.get("/settings/sign-in").StatusCode == http.StatusOK }
	code := regexp.MustCompile(`\w{4}-\w{4}-\w{4}-\w{4}`).FindString(run(failure.ExitOK, "recovery-codes", "create"))
	var browsers []*visitor
	for _, way := range [][3]string{{"/login", "password", servedPassword}, {"/login", "password", servedPassword},
		{"/login/recovery", "code", code}} {
		v := s.visitor().with("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
		if a := v.post(way[0], way[1], way[2]); a.StatusCode != http.StatusSeeOther {
			t.Fatalf("sign in: %d %s", a.StatusCode, a.body)
		}
		browsers = append(browsers, v)
	}
	list := run(failure.ExitOK, "sessions")
	if !regexp.MustCompile(`(?m)^SESSION +BROWSER +ADDRESS +SIGNED IN +BY +LAST SEEN$`).MatchString(list) ||
		strings.Count(list, " Password ") != 2 || strings.Count(list, " Recovery code ") != 1 ||
		strings.Count(list, "127.0.0.1") != 3 || !strings.Contains(list, "Firefox") {
		t.Errorf("listed\n%s", list)
	}
	if got := run(failure.ExitOK, "recovery-codes"); !strings.HasPrefix(got, "9 of 10 left") {
		t.Errorf("codes: %s", got)
	}
	byCode := regexp.MustCompile(`(?m)^(\S+) .* Recovery code `).FindStringSubmatch(list)
	if got := run(failure.ExitOK, "sessions", "end", byCode[1]); got != "Signed out.\n" {
		t.Errorf("says %q", got)
	}
	if in(browsers[2]) || !in(browsers[0]) || !in(browsers[1]) {
		t.Error("the wrong browser is signed out")
	}
	run(failure.ExitNotFound, "sessions", "end", byCode[1])
	run(failure.ExitUsage, "sessions", "end", "one", "--all")
	if got := run(failure.ExitOK, "sessions", "end", "--all", "--json"); got != "{\"ended\":\"all\"}\n" {
		t.Errorf("says %q", got)
	}
	if in(browsers[0]) || in(browsers[1]) {
		t.Error("a browser is still signed in")
	}
	if got := run(failure.ExitOK, "sessions", "--json"); !strings.HasPrefix(got, `{"sessions":[]`) &&
		!strings.HasPrefix(got, `{"sessions":null`) {
		t.Errorf("listed %s", got)
	}
}

// A token ends at its time or never. A long trail reports that it has more entries.
func TestTokensEndAndTrailsGoOn(t *testing.T) {
	s := serveLocal(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword})
	short, usual := s.token("--expires", "1h"), s.token()
	code, never, message := s.pdpp("tokens", "create", "Clock", "--never", "--scope", "read")
	if code != failure.ExitOK || !strings.Contains(message, "It never ends.") {
		t.Fatalf("%d %s", code, message)
	}
	reads := func(token string) bool {
		t.Helper()
		return s.visitor().with("Authorization", "Bearer "+
			strings.TrimSpace(token)).get("/_ref/connections").StatusCode == http.StatusOK
	}
	for at, want := range []int{3, 2, 1} {
		got := 0
		for _, token := range []string{short, usual, never} {
			if reads(token) {
				got++
			}
		}
		if got != want {
			t.Errorf("at %d %d tokens open, want %d", at, got, want)
		}
		s.later([]time.Duration{time.Hour, 90 * 24 * time.Hour, 0}[at])
	}
	_, list, _ := s.pdpp("tokens")
	if strings.Count(list, " expired ") != 2 || !regexp.MustCompile(`Clock +\S+ +read +active +- `).MatchString(list) {
		t.Errorf("listed\n%s", list)
	}
	_, out, errOut := s.pdpp("audit", "--limit", "2")
	if strings.Count(out, "\n") != 3 || !strings.Contains(errOut, "There is more: --limit 20") ||
		!strings.Contains(out, "WHEN") {
		t.Errorf("%s%s", out, errOut)
	}
	_, out, errOut = s.pdpp("audit", "--kind", "exports")
	if out != "Nothing of that kind happened. Entries are kept for 365 days.\n" || errOut != "" {
		t.Errorf("%s%s", out, errOut)
	}
}
