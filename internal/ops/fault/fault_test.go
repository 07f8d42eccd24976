package fault

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
)

func TestFaultsOfOneCodeMatch(t *testing.T) {
	t.Parallel()
	disk := errors.New("the disk is on fire")
	err := fmt.Errorf("write: %w", &Fault{Code: "place_unusable", Message: "it cannot be written", Next: "Choose another.", Err: disk})
	if !errors.Is(err, &Fault{Code: "place_unusable"}) || errors.Is(err, &Fault{Code: "exists"}) || !errors.Is(err, disk) {
		t.Errorf("%v matches wrongly", err)
	}
}

// What only this machine needs does not leave it.
func TestTheInsideStaysInside(t *testing.T) {
	t.Parallel()
	f := New("invalid_label", "The label is missing.", "Enter one.")
	f.Err, f.Exit, f.RetryAfter = errors.New("innards"), 2, 1
	body, err := json.Marshal(f)
	if want := `{"code":"invalid_label","message":"The label is missing.","next_step":"Enter one."}`; err != nil || string(body) != want {
		t.Errorf("%s, %v", body, err)
	}
}
