package deviceapi_test

import (
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/pdpp-go/pdpp/internal/device/wire"
)

func digestOf(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

// The checks come in one order, whatever else is wrong.
func TestOrderOfChecks(t *testing.T) { onBoth(t, testOrderOfChecks) }

func testOrderOfChecks(t *testing.T) {
	b := newBed(t)
	mine, other := b.enrol(b.code("home", ""), ""), b.enrol(b.code("work", ""), "")
	rotate := func(device string) string { return "/" + device + "/token" }
	got := b.post(rotate(other.DeviceID), "wrong", nil, wire.ProtocolHeader, "2")
	b.wants(got, http.StatusConflict, wire.CodeProtocolMismatch)
	if !strings.Contains(got.body, `"accepted_versions":["1"]`) {
		t.Errorf("no accepted versions: %s", got.body)
	}
	for _, token := range []string{"", "wrong", "ldt_short", "ldt_" + strings.Repeat("x", 43)} {
		b.wants(b.post(rotate(other.DeviceID), token, nil), http.StatusUnauthorized, wire.CodeUnauthenticated)
	}
	for _, token := range []string{"pdpp_ot_abc", "pdpp_gt_abc"} {
		b.wants(b.post(rotate(mine.DeviceID), token, nil), http.StatusForbidden, wire.CodeForbidden)
	}
	b.wants(b.post(rotate(other.DeviceID), mine.DeviceToken, nil), http.StatusForbidden, wire.CodeForbidden)
	b.wants(b.post(rotate("dexp_none"), mine.DeviceToken, nil), http.StatusForbidden, wire.CodeForbidden)
	b.wants(b.post(rotate(mine.DeviceID), mine.DeviceToken, nil), http.StatusCreated, "")
}

func TestRotationAndEnd(t *testing.T) {
	b := newBed(t)
	old := b.enrol(b.code("home", ""), "")
	rotate, end := "/"+old.DeviceID+"/token", "/"+old.DeviceID+"/self-revoke"
	var next wire.NewToken
	if err := json.Unmarshal([]byte(b.post(rotate, old.DeviceToken, nil).body), &next); err != nil {
		t.Fatal(err)
	}
	// good until the new one is shown
	b.wants(b.post(rotate, old.DeviceToken, nil), http.StatusCreated, "")
	// the second answer replaced it
	b.wants(b.post(rotate, next.DeviceToken, nil), http.StatusUnauthorized, wire.CodeUnauthenticated)
	if err := json.Unmarshal([]byte(b.post(rotate, old.DeviceToken, nil).body), &next); err != nil {
		t.Fatal(err)
	}
	b.wants(b.post(rotate, next.DeviceToken, nil), http.StatusCreated, "")
	b.wants(b.post(rotate, old.DeviceToken, nil), http.StatusUnauthorized, wire.CodeUnauthenticated)
	b.wants(b.post(end, next.DeviceToken, nil), http.StatusOK, "")
	b.wants(b.post(end, next.DeviceToken, nil), http.StatusUnauthorized, wire.CodeUnauthenticated)
}
