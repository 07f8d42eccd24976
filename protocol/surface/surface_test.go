package surface_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/protocol/surface"
)

var jpeg = []byte{0xFF, 0xD8, 0xFF, 0xE0, 1, 2, 3}

// every holds one message of each kind.
var every = []surface.PageMessage{
	surface.Ready{},
	surface.Picture{Seq: math.MaxUint32, Width: 1280, Height: 800, Scale: 1.5, JPEG: jpeg},
	surface.Place{Origin: "https://chat.example", Title: "Sign in", Blocked: "169.254.169.254"},
	surface.Choices{
		ID:      "list-1",
		Options: []surface.Choice{{Label: "One", Value: "1", Selected: true}, {Label: "Two", Value: "2", Disabled: true}},
	},
	surface.Choices{ID: "list-2", Picker: "date", Value: "1984-05-06", Min: "1900-01-01", Max: "2020-12-31", Step: "1"},
	surface.Dialog{ID: "dialog-1", Kind: surface.DialogPrompt, Message: "Your name?", Default: "Ada"},
	surface.Settled{},
	surface.Closed{Reason: "the page was closed"},
	surface.View{Width: 390, Height: 844, Scale: 2, Quality: 60, Paused: true},
	surface.Seen{Seq: 7},
	surface.Input{
		Kind:      surface.InputPointer,
		Action:    surface.ActionDown,
		X:         1.5,
		Y:         2,
		Button:    "left",
		Buttons:   1,
		Clicks:    2,
		Modifiers: 8,
	},
	surface.Input{Kind: surface.InputWheel, X: 3, DY: -120},
	surface.Input{Kind: surface.InputKey, Action: surface.ActionUp, Key: "Enter", Code: "Enter"},
	surface.Input{Kind: surface.InputText, Text: "größer"},
	surface.Input{Kind: surface.InputBack},
	surface.Input{Kind: surface.InputReload},
	surface.Choose{ID: "list-1", Value: "2", Accept: true},
	surface.End{},
}

func TestChannelCarriesEveryMessage(t *testing.T) {
	var wire bytes.Buffer
	for _, m := range every {
		if err := surface.Send(&wire, m); err != nil {
			t.Fatalf("%T: %v", m, err)
		}
	}
	r := surface.NewReader(iotest.OneByteReader(&wire))
	for _, want := range every {
		f, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		got, err := surface.ParseFrame(f)
		if err != nil {
			t.Fatalf("%T: %v", want, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("after the last frame: %v", err)
	}
}

func TestUnknownKindIsIgnored(t *testing.T) {
	m, err := surface.ParseFrame(surface.Frame{Kind: 200, Payload: []byte("of a later version")})
	if m != nil || err != nil {
		t.Errorf("%v, %v", m, err)
	}
}

func TestBrokenFrames(t *testing.T) {
	for name, wire := range map[string]string{
		"cut head":     "\x02\x00",
		"cut payload":  "\x02\x00\x00\x00\x05abc",
		"too long":     "\x02\x00\x10\x00\x01",
		"enormous":     "\x02\xff\xff\xff\xff",
		"nothing left": "\x02\x00\x00\x00\x01",
	} {
		if f, err := surface.NewReader(strings.NewReader(wire)).Next(); err == nil || errors.Is(err, io.EOF) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	var sent bytes.Buffer
	if err := surface.Write(
		&sent,
		surface.Frame{Payload: make([]byte, surface.MaxPayload+1)},
	); err == nil ||
		sent.Len() > 0 {
		t.Errorf("an overlong frame was sent: %v", err)
	}
	big := surface.Picture{
		Width:  1,
		Height: 1,
		Scale:  1,
		JPEG:   append(bytes.Clone(jpeg), make([]byte, surface.MaxPayload)...),
	}
	if err := surface.Send(&sent, big); err == nil || sent.Len() > 0 {
		t.Errorf("an overlong picture was sent: %v", err)
	}
}

func TestValuesOutOfBounds(t *testing.T) {
	long := strings.Repeat("x", surface.MaxText+1)
	click := surface.Input{Kind: surface.InputPointer, Action: surface.ActionDown}
	with := func(change func(*surface.Input)) surface.Input {
		i := click
		change(&i)
		return i
	}
	for _, m := range []surface.PageMessage{
		surface.Picture{Width: 0, Height: 1, Scale: 1, JPEG: jpeg},
		surface.Picture{Width: 1, Height: surface.MaxSide + 1, Scale: 1, JPEG: jpeg},
		surface.Picture{Width: 1, Height: 1, Scale: math.NaN(), JPEG: jpeg},
		surface.Picture{Width: 1, Height: 1, Scale: math.Inf(1), JPEG: jpeg},
		surface.Picture{Width: 1, Height: 1, Scale: 1, JPEG: []byte("\x89PNG")},
		surface.Place{Title: long}, surface.Place{Title: "\xff"}, surface.Place{Blocked: long},
		surface.Choices{ID: "a", Picker: "file"}, surface.Choices{ID: "a", Picker: "date", Value: long[:65]},
		surface.Choices{ID: "a", Picker: "date", Max: "\xff"},
		surface.Choices{}, surface.Choices{ID: "a", Options: make([]surface.Choice, surface.MaxChoices+1)},
		surface.Choices{ID: "a", Options: []surface.Choice{{Label: long}}},
		surface.Choices{ID: "a", Options: slices.Repeat([]surface.Choice{{Label: long[1:]}},
			surface.MaxChoiceText/surface.MaxText+1)},
		surface.Dialog{ID: "a", Kind: "print"}, surface.Dialog{Kind: surface.DialogAlert},
		surface.Dialog{ID: "a", Message: long},
		surface.Closed{Reason: long},
		surface.View{Height: 1, Scale: 1, Quality: 1}, surface.View{Width: 1, Height: 1, Quality: 1},
		surface.View{Width: 1, Height: 1, Scale: surface.MaxScale + 1, Quality: 1},
		surface.View{Width: 1, Height: 1, Scale: 1, Quality: 101},
		surface.Choose{}, surface.Choose{ID: "a", Value: long},
		surface.Input{}, surface.Input{Kind: "navigate", Text: "https://elsewhere.example"},
		surface.Input{Kind: surface.InputText},
		surface.Input{Kind: surface.InputText, Text: long}, surface.Input{Kind: surface.InputKey, Action: surface.ActionDown},
		surface.Input{Kind: surface.InputBack, Action: surface.ActionDown},
		with(func(i *surface.Input) { i.Action = "cancel" }),
		with(func(i *surface.Input) { i.X = -1 }),
		with(func(i *surface.Input) { i.Y = math.NaN() }),
		with(func(i *surface.Input) { i.DX = surface.MaxSide + 1 }),
		with(func(i *surface.Input) { i.Button = "back" }),
		with(func(i *surface.Input) { i.Buttons = 8 }),
		with(func(i *surface.Input) { i.Clicks = 4 }),
		with(func(i *surface.Input) { i.Modifiers = 16 }),
		with(func(i *surface.Input) { i.Key = strings.Repeat("k", 65) }),
		with(func(i *surface.Input) { i.Code = "\xff" }),
	} {
		if f, err := surface.Encode(m); err == nil {
			t.Errorf("%T %.80v was sent as %.80q", m, m, f.Payload)
		}
	}
}

// TestErrorsHoldNoInput checks that no error contains typed text.
func TestErrorsHoldNoInput(t *testing.T) {
	for _, payload := range []string{
		`{"kind":"text","text":"hunter2`, `{"kind":"text","text":["hunter2"]}`, `{"kind":"hunter2"}`,
		`{"kind":"text","text":"hunter2` + strings.Repeat("x", surface.MaxText) + `"}`, `"hunter2"`, `hunter2`,
	} {
		_, err := surface.ParseFrame(surface.Frame{Kind: surface.KindInput, Payload: []byte(payload)})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%.40s: %v", payload, err)
		}
	}
}

// FuzzChannel checks that any bytes lead to frames or an error, and that a parsed message is encoded as the same
// message.
func FuzzChannel(f *testing.F) {
	for _, m := range every {
		var wire bytes.Buffer
		if err := surface.Send(&wire, m); err != nil {
			f.Fatal(err)
		}
		f.Add(wire.Bytes())
	}
	f.Add([]byte("\x43\x00\x00\x00\x11{\"kind\":\"reload\"}"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		r := surface.NewReader(bytes.NewReader(wire))
		for {
			frame, err := r.Next()
			if err != nil {
				return
			}
			if len(frame.Payload) > surface.MaxPayload {
				t.Fatal("a payload beyond the bound")
			}
			m, err := surface.ParseFrame(frame)
			if err != nil || m == nil {
				continue
			}
			again, err := surface.Encode(m)
			if err != nil {
				t.Fatalf("%#v was read and cannot be written: %v", m, err)
			}
			second, err := surface.ParseFrame(again)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(m, second); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}
