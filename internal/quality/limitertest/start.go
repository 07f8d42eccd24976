package limitertest

import (
	"os"
	"testing"
)

// Variable names the nginx program of the tests.
const Variable = "PDPP_TEST_NGINX"

// Program is the nginx of the tests. Without one the test fails: a limiter that
// was not met proves nothing.
func Program(t testing.TB) string {
	t.Helper()
	program := os.Getenv(Variable)
	if program == "" {
		t.Fatalf("%s is not set; run `make test`, which installs an nginx for the tests", Variable)
	}
	return program
}

// Start runs nginx for one test, which need not stop it.
func Start(t testing.TB, l Limit, items int) *Server {
	t.Helper()
	s, err := Run(Program(t), t.TempDir(), l, items)
	if err != nil {
		t.Fatalf("%s: %v", Variable, err)
	}
	t.Cleanup(func() {
		if s.process.running() {
			if _, err := s.Stop(); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}
