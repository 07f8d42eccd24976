package cli

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Browsers that are signed in are listed by the command, and signed out by it, one alone
// or all of them.
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
	code := regexp.MustCompile(`\w{4}-\w{4}-\w{4}-\w{4}`).FindString(run(ExitOK, "recovery-codes", "create"))
	var browsers []*visitor
	for _, way := range [][3]string{{"/login", "password", servedPassword}, {"/login", "password", servedPassword}, {"/login/recovery", "code", code}} {
		v := s.visitor().with("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
		if a := v.post(way[0], way[1], way[2]); a.StatusCode != http.StatusSeeOther {
			t.Fatalf("sign in: %d %s", a.StatusCode, a.body)
		}
		browsers = append(browsers, v)
	}
	list := run(ExitOK, "sessions")
	if !regexp.MustCompile(`(?m)^SESSION +BROWSER +ADDRESS +SIGNED IN +BY +LAST SEEN$`).MatchString(list) ||
		strings.Count(list, " password ") != 2 || strings.Count(list, " recovery code ") != 1 || strings.Count(list, "127.0.0.1") != 3 || !strings.Contains(list, "Firefox") {
		t.Errorf("listed\n%s", list)
	}
	if got := run(ExitOK, "recovery-codes"); !strings.HasPrefix(got, "9 of 10 codes are left") {
		t.Errorf("codes: %s", got)
	}
	byCode := regexp.MustCompile(`(?m)^(\S+) .* recovery code `).FindStringSubmatch(list)
	if got := run(ExitOK, "sessions", "end", byCode[1]); got != "Signed out.\n" {
		t.Errorf("says %q", got)
	}
	if in(browsers[2]) || !in(browsers[0]) || !in(browsers[1]) {
		t.Error("the wrong browser is signed out")
	}
	run(ExitNotFound, "sessions", "end", byCode[1])
	run(ExitUsage, "sessions", "end", "one", "--all")
	if got := run(ExitOK, "sessions", "end", "--all", "--json"); got != "{\"ended\":\"all\"}\n" {
		t.Errorf("says %q", got)
	}
	if in(browsers[0]) || in(browsers[1]) {
		t.Error("a browser is still signed in")
	}
	if got := run(ExitOK, "sessions", "--json"); !strings.HasPrefix(got, `{"sessions":[]`) && !strings.HasPrefix(got, `{"sessions":null`) {
		t.Errorf("listed %s", got)
	}
}

// A token ends when it was told to, or never; a long trail says that there is more.
func TestTokensEndAndTrailsGoOn(t *testing.T) {
	s := serveLocal(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword})
	short, usual := s.token("--expires", "1h"), s.token()
	code, never, said := s.pdpp("tokens", "create", "Clock", "--never", "--scope", "read")
	if code != ExitOK || !strings.Contains(said, "It never ends.") {
		t.Fatalf("%d %s", code, said)
	}
	reads := func(token string) bool {
		t.Helper()
		return s.visitor().with("Authorization", "Bearer "+strings.TrimSpace(token)).get("/_ref/connections").StatusCode == http.StatusOK
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
	if strings.Count(out, "\n") != 3 || !strings.Contains(errOut, "There is more: --limit 20") || !strings.Contains(out, "WHEN") {
		t.Errorf("%s%s", out, errOut)
	}
	_, out, errOut = s.pdpp("audit", "--kind", "exports")
	if out != "Nothing of that kind happened. Entries are kept for 365 days.\n" || errOut != "" {
		t.Errorf("%s%s", out, errOut)
	}
}

// What was not said on the command line is taken from the environment, and what makes no
// sense there is refused by its name.
func TestServeTakesItsVariables(t *testing.T) {
	config := func(vars map[string]string, f serveFlags) (serveFlags, string) {
		env, _, _ := testEnv(t, vars)
		a := &app{env: env, home: t.TempDir()}
		if f.role == "" {
			f.role = "all"
		}
		c, err := a.serveConfig(&f)
		if err != nil {
			return f, err.Error()
		}
		if c.Slots != f.slots || c.PerProvider != f.perProvider || c.LeaseTTL != f.leaseTTL {
			t.Errorf("%+v became %d, %d, %v", f, c.Slots, c.PerProvider, c.LeaseTTL)
		}
		return f, ""
	}
	all := map[string]string{envListen: "127.0.0.1:1", envMetrics: "9091", envLogFormat: "json", envLogLevel: "warn", envSlots: "7", envPerProvider: "3", envLeaseTTL: "45s"}
	f, problem := config(all, serveFlags{})
	if problem != "" || f.listen != "127.0.0.1:1" || f.metricsListen != "9091" || f.logFormat != "json" || f.logLevel != "warn" || f.slots != 7 || f.perProvider != 3 || f.leaseTTL != 45*time.Second {
		t.Errorf("%+v %s", f, problem)
	}
	said := serveFlags{role: "web", listen: "127.0.0.1:2", metricsListen: "1", logFormat: "text", logLevel: "info", slots: 1, perProvider: 1, leaseTTL: time.Minute}
	if f, problem = config(all, said); problem != "" || f.listen != said.listen || f.metricsListen != "1" || f.logFormat != "text" || f.logLevel != "info" || f.slots != 1 || f.perProvider != 1 || f.leaseTTL != time.Minute {
		t.Errorf("%+v %s", f, problem)
	}
	for role, listen := range map[string]string{"all": defaultListen, "web": defaultListen, "worker": ""} {
		if f, problem = config(nil, serveFlags{role: role}); problem != "" || f.listen != listen {
			t.Errorf("%s: %+v %s", role, f, problem)
		}
	}
	for name, value := range map[string]string{envSlots: "many", envPerProvider: "0", envLeaseTTL: "soon"} {
		if _, problem := config(map[string]string{name: value}, serveFlags{}); !strings.Contains(problem, name) {
			t.Errorf("%s=%s: %q", name, value, problem)
		}
	}
	for _, f := range []serveFlags{{slots: -1}, {perProvider: -1}, {leaseTTL: shortestLease - 1}, {role: "boss"}, {logLevel: "loud"}, {logFormat: "xml"}} {
		if _, problem := config(nil, f); problem == "" {
			t.Errorf("%+v is taken", f)
		}
	}
	if _, problem := config(nil, serveFlags{leaseTTL: shortestLease}); problem != "" {
		t.Error(problem)
	}
}
