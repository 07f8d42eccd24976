package cli

import (
	"net"
	"net/http"
	"strings"
	"testing"
)

const servedPassword = "correct horse battery"

// The password that a first start makes is shown once, by every role that answers owners.
func TestFirstPasswordIsShownByEveryRole(t *testing.T) {
	for _, role := range []string{"all", "web"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			s := serveLocal(t, nil, "--role", role)
			s.stop()
			message := s.text + s.log.String()
			_, after, shown := strings.Cut(message, "which is not shown again: ")
			if !shown {
				t.Fatalf("it prints only %q", message)
			}
			password, _, _ := strings.Cut(after, "\n")
			s.start("--role", role)
			if again := s.visitor().post("/login", "password", password); again.StatusCode != http.StatusSeeOther {
				t.Errorf("the password that was shown: %d %s", again.StatusCode, again.body)
			}
			s.stop()
			if strings.Count(s.log.String(), password) > 1 || strings.Contains(s.text, password) {
				t.Errorf("it is shown again: %s%s", s.text, s.log)
			}
		})
	}
}

// Names that are not ours are refused wherever the server listens, once it knows its own.
func TestForeignNamesAreRefusedOnEveryAddress(t *testing.T) {
	s := serveLocal(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword,
		"PDPP_BASE_URL": "https://pdpp.lantern.example"}, "--listen", "0.0.0.0:0")
	for host, want := range map[string]int{
		"pdpp.lantern.example": 200, "localhost": 200, "127.0.0.1:7377": 200,
		"evil.example": 421, "pdpp.lantern.example.evil.example": 421, "192.0.2.7": 421,
	} {
		if a := s.visitor().with("Host", host).get("/login"); a.StatusCode != want {
			t.Errorf("%s: %d", host, a.StatusCode)
		}
	}
}

// With an https address the cookie is bound to this host, and browsers return only over TLS.
func TestSecureAddressBindsTheCookie(t *testing.T) {
	for base, secure := range map[string]bool{"https://pdpp.lantern.example": true, "http://localhost:7377": false,
		"": false} {
		t.Run(base, func(t *testing.T) {
			t.Parallel()
			s := serveLocal(t, map[string]string{"PDPP_OWNER_PASSWORD": servedPassword, "PDPP_BASE_URL": base})
			a := s.visitor().post("/login", "password", servedPassword)
			var names []string
			for _, c := range a.Cookies() {
				names = append(names, c.Name)
				if c.Secure != secure || !c.HttpOnly || c.Path != "/" || c.Domain != "" ||
					strings.HasPrefix(c.Name, "__Host-") != secure {
					t.Errorf("cookie %v", c)
				}
			}
			if a.StatusCode != http.StatusSeeOther || len(names) == 0 {
				t.Fatalf("%d, cookies %v", a.StatusCode, names)
			}
			if got := a.Header.Get("Strict-Transport-Security"); (got != "") != secure {
				t.Errorf("Strict-Transport-Security: %q", got)
			}
		})
	}
}

// Which sources fail is the owner's to know: /metrics needs a token that may read, or has
// an address of its own.
func TestMetricsAreTheOwners(t *testing.T) {
	probe, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	own := probe.Addr().String()
	probe.Close()
	for _, role := range []string{"all", "web", "worker"} {
		t.Run(role, func(t *testing.T) {
			s := serveLocal(t, nil, "--role", role, "--listen", "127.0.0.1:0", "--metrics-listen", own)
			if a := s.visitor().get("/metrics"); a.StatusCode != http.StatusUnauthorized || strings.Contains(a.body, "pdpp_") {
				t.Errorf("anybody: %d %.100s", a.StatusCode, a.body)
			}
			if a := s.visitor().with("Authorization",
				"Bearer pdpp_ot_nothing").get("/metrics"); a.StatusCode != http.StatusUnauthorized {
				t.Errorf("a wrong token: %d", a.StatusCode)
			}
			if a := s.visitor().with("Authorization", "Bearer "+s.token()).get("/metrics"); a.StatusCode != http.StatusOK ||
				!strings.Contains(a.body, "pdpp_") {
				t.Errorf("a token: %d %.100s", a.StatusCode, a.body)
			}
			s.url = "http://" + own
			if a := s.visitor().get("/metrics"); a.StatusCode != http.StatusOK || !strings.Contains(a.body, "pdpp_") {
				t.Errorf("its own address: %d %.100s", a.StatusCode, a.body)
			}
			if a := s.visitor().with("Host", "evil.example").get("/metrics"); a.StatusCode != http.StatusMisdirectedRequest {
				t.Errorf("its own address by a foreign name: %d", a.StatusCode)
			}
			if a := s.visitor().get("/login"); a.StatusCode != http.StatusNotFound {
				t.Errorf("the address of the metrics answers more: %d", a.StatusCode)
			}
		})
	}
}
