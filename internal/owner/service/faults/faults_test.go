package faults

import (
	"errors"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/keep/store"
	"github.com/pdpp-go/pdpp/internal/owner/service/ownertest"
)

// Trouble of the database is told as what the owner can do about it, without its innards.
func TestStorageFaultsAreTold(t *testing.T) {
	t.Parallel()
	errDisk := errors.New("the disk is on fire")
	err := Error(&store.FaultError{Fault: store.FaultFull, Where: "/home/ada/pdpp.db", Err: errDisk}, "read")
	ownertest.WantError(t, err, string(store.FaultFull), "")
	if strings.Contains(err.Error(), "ada") {
		t.Errorf("the message tells %q", err)
	}
	if err := Error(errDisk, "read the moon"); !errors.Is(err, errDisk) || err.Error() != "read the moon: the disk is on fire" {
		t.Errorf("error %v", err)
	}
	if err := Error(nil, "read"); err != nil {
		t.Errorf("of nothing it makes %v", err)
	}
}
