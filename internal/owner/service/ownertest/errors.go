package ownertest

import (
	"errors"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/api"
)

// WantError holds an error to its code and the field that it names, and to what every
// error of the owner's has.
func WantError(t testing.TB, err error, code, param string) {
	t.Helper()
	var e *api.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want code %s", err, code)
	}
	if e.Code != code || e.Param != param {
		t.Errorf("error %s of %q, want %s of %q: %s", e.Code, e.Param, code, param, e.Message)
	}
	if e.Status < 400 || e.Next == "" || !strings.HasSuffix(e.Message, ".") {
		t.Errorf("error %+v lacks a status, a sentence or a next step", e)
	}
}
