package usererr

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
)

func TestErrorsOfOneCodeMatch(t *testing.T) {
	t.Parallel()
	disk := errors.New("the disk is on fire")
	err := fmt.Errorf("write: %w", &Error{Code: "place_unusable", Message: "it cannot be written", Next: "Choose another.",
		Err: disk})
	if !errors.Is(err, &Error{Code: "place_unusable"}) || errors.Is(err, &Error{Code: "exists"}) || !errors.Is(err, disk) {
		t.Errorf("%v matches wrongly", err)
	}
}

// Members for this process only are not encoded.
func TestInternalDetailsAreNotEncoded(t *testing.T) {
	t.Parallel()
	f := New("invalid_label", "The label is missing.", "Enter one.")
	f.Err, f.Exit, f.RetryAfter = errors.New("innards"), 2, 1
	body, err := json.Marshal(f)
	if want := `{"code":"invalid_label","message":"The label is missing.","next_step":"Enter one."}`; err != nil ||
		string(body) != want {
		t.Errorf("%s, %v", body, err)
	}
}
