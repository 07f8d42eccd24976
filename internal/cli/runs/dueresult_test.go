package runs

import (
	"testing"

	"github.com/pdpp-go/pdpp/internal/cli/failure"
)

func TestOneExit(t *testing.T) {
	for _, c := range []struct {
		codes []int
		want  int
	}{{nil, failure.ExitOK}, {[]int{failure.ExitOwner}, failure.ExitOwner}, {[]int{failure.ExitOwner, failure.ExitOwner},
		failure.ExitOwner}, {[]int{failure.ExitOwner, failure.ExitFailed}, failure.ExitFailed}} {
		if got := combineExitCodes(c.codes); got != c.want {
			t.Errorf("%v: %d", c.codes, got)
		}
	}
}
