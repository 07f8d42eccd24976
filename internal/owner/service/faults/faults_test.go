package faults

import (
	"errors"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/owner/service/ownertest"
	"github.com/pdpp-go/pdpp/internal/storage/store"
)

// The error for a database fault names what the owner can do, and hides internal details.
func TestStorageFaultsAreTold(t *testing.T) {
	t.Parallel()
	errDisk := errors.New("the disk is on fire")
	err := OwnerError(&store.FaultError{Fault: store.FaultFull, Where: "/home/ada/pdpp.db", Err: errDisk}, "read")
	ownertest.WantError(t, err, string(store.FaultFull), "")
	if strings.Contains(err.Error(), "ada") {
		t.Errorf("the message tells %q", err)
	}
	if err := OwnerError(errDisk, "read the moon"); !errors.Is(err, errDisk) ||
		err.Error() != "read the moon: the disk is on fire" {
		t.Errorf("error %v", err)
	}
	if err := OwnerError(nil, "read"); err != nil {
		t.Errorf("of nothing it makes %v", err)
	}
}
