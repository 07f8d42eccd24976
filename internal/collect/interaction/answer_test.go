package interaction

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pdpp-go/pdpp/internal/ops/usererr"
	"github.com/pdpp-go/pdpp/internal/storage/store"
	"github.com/pdpp-go/pdpp/protocol"
)

func TestAnswersThatAreRefused(t *testing.T) {
	b := newBed(t)
	if err := LeaveAnswer(t.Context(), b.answering, "run_1", "q1", success(`{}`), noon); !errors.Is(err, ErrNotPending) {
		t.Errorf("nothing was asked: %v", err)
	}
	b.put(t, "q1", "")
	answer := func(run, id string, r protocol.InteractionResponse) error {
		return LeaveAnswer(t.Context(), b.answering, run, id, r, noon)
	}
	for _, c := range []struct {
		name string
		got  error
		want *usererr.Error
	}{
		{"another run", answer("run_2", "q1", success(`{}`)), ErrNotPending},
		{"another question", answer("run_1", "q2", success(`{}`)), ErrMismatch},
		{"no status", answer("run_1", "q1", protocol.InteractionResponse{}), ErrInvalidStatus},
		{"a status of the runner's", answer("run_1", "q1", protocol.InteractionResponse{Status: protocol.ResponseTimeout}),
			ErrInvalidStatus},
		{"no object", answer("run_1", "q1", success(`"314159"`)), ErrInvalidAnswer},
		{"no JSON", answer("run_1", "q1", success(`{"code":`)), ErrInvalidAnswer},
		{"too large", answer("run_1", "q1", success(`{"code":"`+strings.Repeat("x", largestAnswer)+`"}`)), ErrInvalidAnswer},
		{"the first", answer("run_1", "q1", success(`{"code":"1"}`)), nil},
		{"the second", answer("run_1", "q1", success(`{"code":"2"}`)), ErrAlreadyAnswered},
	} {
		if c.want == nil && c.got != nil || c.want != nil && !errors.Is(c.got, c.want) {
			t.Errorf("%s: %v", c.name, c.got)
		}
		var e *usererr.Error
		if c.want != nil && (!errors.As(c.got, &e) || e.NextStep() == "") {
			t.Errorf("%s has no next step: %v", c.name, c.got)
		}
	}
	row := store.Interaction{RequestID: "here", RunID: "run_1", ConnectionID: "cin_1", Kind: protocol.AskOTP,
		Message: "code?", OpenedAt: noon}
	if err := b.asking.OpenInteraction(t.Context(), b.lease, row, noon); err != nil {
		t.Fatal(err)
	}
	if err := answer("run_1", "here", success(`{}`)); !errors.Is(err, ErrElsewhere) {
		t.Errorf("a question without a key: %v", err)
	}
}

func TestForms(t *testing.T) {
	const form = `{"type":"object","required":["user","password"],"properties":{
		"user":{"type":"string","minLength":1},"password":{"type":"string","format":"password"},
		"keep":{"type":"boolean"},"region":{"enum":["north","south"]},"port":{"type":"integer","maximum":9}}}`
	for _, c := range []struct {
		name, form, data string
		fields           []string
		want             error
	}{
		{name: "fits", form: form, data: `{"user":"ada","password":"p","keep":true,"region":"north","port":3}`},
		{name: "nothing", form: form, data: ``, want: ErrInvalidAnswer, fields: []string{"password", "user"}},
		{name: "missing", form: form, data: `{"user":"ada"}`, want: ErrInvalidAnswer, fields: []string{"password"}},
		{name: "wrong types", form: form, data: `{"user":"","password":7,"keep":"yes","region":"west","port":1.5}`,
			want: ErrInvalidAnswer, fields: []string{"keep", "password", "port", "region", "user"}},
		{name: "beyond computing", form: form, data: `{"user":"a","password":"p","port":1e999999999}`,
			want: ErrInvalidAnswer},
		{name: "no form", data: `{"anything":1}`},
		{name: "closed form", form: `{"type":"object","properties":{"a":{}},"additionalProperties":false}`,
			data: `{"my-secret-name":1}`, want: ErrInvalidAnswer},
		{name: "other documents", form: `{"$ref":"file:///etc/passwd"}`, data: `{}`, want: ErrFormUnreadable},
		{name: "no schema", form: `{"type":7}`, data: `{}`, want: ErrFormUnreadable},
	} {
		err := checkForm(jsontext.Value(c.form), jsontext.Value(c.data))
		if c.want == nil && err != nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var e *usererr.Error
		if errors.As(err, &e) {
			_, named, _ := strings.Cut(e.Message, "form: ")
			if named != strings.Join(c.fields, ", ") || len(c.fields) > 0 && e.Param != c.fields[0] {
				t.Errorf("%s names %q and %q", c.name, e.Param, named)
			}
			if strings.Contains(e.Error(), "secret") || strings.Contains(e.Error(), "west") {
				t.Errorf("%s: the error repeats the answer: %v", c.name, e)
			}
		}
	}
	if ErrInvalidAnswer.Param != "data" {
		t.Error("an error of one answer shows in the next")
	}
}

// Any answer survives the trip, and its size reveals only its block count.
func TestAnyAnswerSurvives(t *testing.T) {
	key, err := suite.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		at := questionID{rapid.String().Draw(t, "run"), rapid.StringN(1, -1, 40).Draw(t, "request")}
		r := protocol.InteractionResponse{RequestID: at.requestID,
			Status: rapid.SampledFrom(protocol.ResponseStatuses).Draw(t, "status")}
		if r.Status == protocol.ResponseSuccess {
			data, err := json.Marshal(rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "data"), json.Deterministic(true))
			if err != nil {
				t.Fatal(err)
			}
			r.Data = data
		}
		sealed, err := seal(key.PublicKey().Bytes(), at, r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := open(key, at, sealed)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		const tag = 16
		if (len(sealed)-encapsulatedSize-tag)%sealedBlock != 0 {
			t.Fatalf("an answer is sealed to %d bytes", len(sealed))
		}
	})
}
