package protocol

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/go-json-experiment/json"
)

func TestViolationText(t *testing.T) {
	for want, v := range map[string]*Violation{
		"protocol violation: not_an_object": {Subtype: NotAnObject},
		`protocol violation: invalid_field in STATE on stream "no\"tes": received cursor: array, expected an object or ` +
			`null (last valid event: RECORD)`: {
			Subtype: InvalidField, MessageType: TypeState, Stream: `no"tes`,
			Expected: []string{"an object", "null"}, Received: "cursor: array", LastValidEvent: "RECORD"},
	} {
		if got := v.Error(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// The names under which a violation is stored.
func TestViolationOnTheWire(t *testing.T) {
	full := Violation{
		Subtype:        InvalidField,
		MessageType:    TypeState,
		Stream:         "s",
		Expected:       []string{"e"},
		Received:       "r",
		LastValidEvent: "RECORD",
	}
	for want, v := range map[string]Violation{
		`{"subtype":"invalid_field","message_type":"STATE","stream":"s","expected":["e"],"received":"r",` +
			`"last_valid_event":"RECORD"}`: full,
		`{"subtype":"line_too_long"}`: {Subtype: LineTooLong},
	} {
		if b, err := json.Marshal(v); err != nil || string(b) != want {
			t.Errorf("%s (%v), want %s", b, err, want)
		}
	}
}

func TestAsViolation(t *testing.T) {
	v := &Violation{Subtype: LineTooLong}
	if got, ok := AsViolation(fmt.Errorf("read: %w", v)); !ok || got != v {
		t.Errorf("%v, %t", got, ok)
	}
	for _, err := range []error{nil, errors.New("plain")} {
		if got, ok := AsViolation(err); ok || got != nil {
			t.Errorf("%v, %t", got, ok)
		}
	}
}

// A bounded violation fits its storage, stays valid text, loses nothing that fits, and does not change the
// original.
func TestBounded(t *testing.T) {
	text := rapid.OneOf(
		rapid.String(),
		rapid.Map(rapid.IntRange(195, 205), func(n int) string { return strings.Repeat("é", n) }),
		rapid.Map(rapid.IntRange(195, 205), func(n int) string { return strings.Repeat("x", n) + "é" }),
	)
	rapid.Check(t, func(t *rapid.T) {
		v := &Violation{
			Subtype:     InvalidField,
			MessageType: MessageType(text.Draw(t, "type")),
			Stream:      text.Draw(t, "stream"),
			Expected: rapid.SliceOfN(text, 0, 25).
				Draw(t, "expected"),
			Received:       text.Draw(t, "received"),
			LastValidEvent: text.Draw(t, "last"),
		}
		before := *v
		b := v.Bounded()
		if diff := cmp.Diff(&before, v); diff != "" {
			t.Fatalf("the original changed:\n%s", diff)
		}
		if want := min(len(v.Expected), maxViolationExpected); len(b.Expected) != want {
			t.Fatalf("%d expected texts of %d", len(b.Expected), len(v.Expected))
		}
		pairs := [][2]string{
			{string(v.MessageType), string(b.MessageType)}, {v.Stream, b.Stream},
			{v.Received, b.Received}, {v.LastValidEvent, b.LastValidEvent},
		}
		for i := range b.Expected {
			pairs = append(pairs, [2]string{v.Expected[i], b.Expected[i]})
		}
		for _, p := range pairs {
			whole, cut := p[0], p[1]
			switch {
			case len(cut) > maxViolationText, !strings.HasPrefix(whole, cut), !utf8.ValidString(cut):
				t.Fatalf("%q is cut to %q", whole, cut)
			case len(whole) <= maxViolationText && cut != whole,
				len(whole) > maxViolationText && len(cut) < maxViolationText-utf8.UTFMax+1:
				t.Fatalf("%q is cut short to %q", whole, cut)
			}
		}
	})
}
