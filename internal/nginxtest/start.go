package nginxtest

import (
	"os"
	"testing"
)

// Variable names the nginx program of the tests.
const Variable = "PDPP_TEST_NGINX"

// Start runs nginx for one test, which need not stop it. Without a program the
// test is skipped; `make test` always names one, and then it has to work.
func Start(t testing.TB, l Limit, items int) *Server {
	t.Helper()
	program := os.Getenv(Variable)
	if program == "" {
		t.Skipf("%s is not set; run `make test`, which installs an nginx for the tests", Variable)
	}
	s, err := Run(program, t.TempDir(), l, items)
	if err != nil {
		t.Fatalf("%s: %v", Variable, err)
	}
	t.Cleanup(func() {
		select {
		case <-s.ended:
		default:
			if _, err := s.Stop(); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}
