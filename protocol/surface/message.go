package surface

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// Bounds of values, which both ends enforce.
const (
	// MaxText bounds a typed, shown or chosen text, in bytes.
	MaxText = 4 << 10
	// MaxChoices bounds a list, and MaxChoiceText the sum of its texts in bytes.
	MaxChoices    = 500
	MaxChoiceText = 128 << 10
	// MaxSide bounds a page's width and height in CSS pixels.
	MaxSide = 8192
	// MaxScale bounds the number of picture pixels per pixel of the page.
	MaxScale = 4

	maxNameBytes = 64
)

// PageMessage is the content of a frame. The set of implementations is closed.
type PageMessage interface {
	kind() FrameKind
	check() error
}

// Ready reports that a page can be shown.
type Ready struct{}

// Picture is an image of the page.
type Picture struct {
	Seq           uint32  // repeated in Seen
	Width, Height int     // visible part of the page in CSS pixels: the range of Input's X and Y
	Scale         float64 // pixels of the picture per CSS pixel
	JPEG          []byte
}

// Place describes the current page outside of the picture, where no page can imitate it.
type Place struct {
	Origin string `json:"origin"`
	Title  string `json:"title"`
	// Blocked is the host of a document that was not loaded because the connector's manifest does not allow it.
	// Empty means none.
	Blocked string `json:"blocked,omitempty"`
}

// Choice is one item of a list.
type Choice struct {
	Label    string `json:"label"`
	Value    string `json:"value"`
	Selected bool   `json:"selected,omitempty"`
	Disabled bool   `json:"disabled,omitempty"`
}

// Choices is a list that the owner opened on the page and that pictures do not show. An empty list closes the
// earlier list with that id. With a Picker it is a field of that kind instead, and the choice is its value.
type Choices struct {
	ID      string   `json:"id"`
	Options []Choice `json:"options"`
	// Picker is one of Pickers, or empty for a list. The other members describe the field as in HTML.
	Picker string `json:"picker,omitempty"`
	Value  string `json:"value,omitempty"`
	Min    string `json:"min,omitempty"`
	Max    string `json:"max,omitempty"`
	Step   string `json:"step,omitempty"`
}

// Pickers are HTML fields with windows that pictures do not show.
var Pickers = []string{"date", "datetime-local", "month", "week", "time", "color"}

// The kinds of dialogs.
const (
	DialogAlert   = "alert"
	DialogConfirm = "confirm"
	DialogPrompt  = "prompt"
	DialogLeave   = "beforeunload"
)

var dialogKinds = []string{DialogAlert, DialogConfirm, DialogPrompt, DialogLeave}

// Dialog is a modal dialog of the page. An empty Kind closes the dialog with that id.
type Dialog struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Default string `json:"default,omitempty"`
}

// Settled reports that the owner is signed in, so that the interaction needs no answer.
type Settled struct{}

// Closed reports that there is nothing more to show.
type Closed struct {
	Reason string `json:"reason"`
}

// View is how the owner views the page.
type View struct {
	Width   int     `json:"width"`
	Height  int     `json:"height"`
	Scale   float64 `json:"scale"`
	Quality int     `json:"quality"` // of JPEG, 1 to 100
	// Paused stops pictures until the next View.
	Paused bool `json:"paused,omitempty"`
}

// Seen acknowledges a picture. The next one is sent only then.
type Seen struct {
	Seq uint32
}

// Kinds of input. There is no other way to act on a page.
const (
	InputPointer = "pointer"
	InputWheel   = "wheel"
	InputKey     = "key"
	InputText    = "text"
	InputBack    = "back"
	InputReload  = "reload"
)

// Actions of a pointer and a key.
const (
	ActionMove = "move"
	ActionDown = "down"
	ActionUp   = "up"
)

// pointerButtons are the valid values of Input.Button.
var pointerButtons = []string{"", "left", "middle", "right"}

// Input is one action of the owner. X and Y are CSS pixels of the page's visible part.
type Input struct {
	Kind   string  `json:"kind"`
	Action string  `json:"action,omitempty"` // of pointer: move, down, up; of key: down, up
	X      float64 `json:"x,omitempty"`
	Y      float64 `json:"y,omitempty"`
	// Button is the button that changed, Buttons the set that is held (1 left, 2 right, 4 middle).
	Button  string  `json:"button,omitempty"`
	Buttons int     `json:"buttons,omitempty"`
	Clicks  int     `json:"clicks,omitempty"`
	DX      float64 `json:"dx,omitempty"`
	DY      float64 `json:"dy,omitempty"`
	// Key and Code are those of the web's KeyboardEvent.
	Key  string `json:"key,omitempty"`
	Code string `json:"code,omitempty"`
	// Modifiers are the held keys: 1 Alt, 2 Control, 4 Meta, 8 Shift.
	Modifiers int    `json:"modifiers,omitempty"`
	Text      string `json:"text,omitempty"` // of text: what is typed or pasted
}

// Choose is the reply to Choices or Dialog with that id. If Accept is false, nothing changes.
type Choose struct {
	ID     string `json:"id"`
	Value  string `json:"value,omitempty"`
	Accept bool   `json:"accept"`
}

// End reports that the owner no longer views the page.
type End struct{}

func (Ready) kind() FrameKind   { return KindReady }
func (Picture) kind() FrameKind { return KindPicture }
func (Place) kind() FrameKind   { return KindPlace }
func (Choices) kind() FrameKind { return KindChoices }
func (Dialog) kind() FrameKind  { return KindDialog }
func (Settled) kind() FrameKind { return KindSettled }
func (Closed) kind() FrameKind  { return KindClosed }
func (View) kind() FrameKind    { return KindView }
func (Seen) kind() FrameKind    { return KindSeen }
func (Input) kind() FrameKind   { return KindInput }
func (Choose) kind() FrameKind  { return KindChoose }
func (End) kind() FrameKind     { return KindEnd }

// Encode returns the frame of a message. It returns an error if a value is out of bounds.
func Encode(m PageMessage) (Frame, error) {
	if err := m.check(); err != nil {
		return Frame{}, err
	}
	f := Frame{Kind: m.kind()}
	switch m := m.(type) {
	case Ready, Settled, End:
	case Picture:
		f.Payload = make([]byte, pictureHeaderSize, pictureHeaderSize+len(m.JPEG))
		binary.BigEndian.PutUint32(f.Payload[0:], m.Seq)
		binary.BigEndian.PutUint16(f.Payload[4:], uint16(m.Width))
		binary.BigEndian.PutUint16(f.Payload[6:], uint16(m.Height))
		binary.BigEndian.PutUint64(f.Payload[8:], math.Float64bits(m.Scale))
		f.Payload = append(f.Payload, m.JPEG...)
	case Seen:
		f.Payload = binary.BigEndian.AppendUint32(nil, m.Seq)
	default:
		text, err := json.Marshal(m)
		if err != nil {
			return Frame{}, fmt.Errorf("encode a frame: %w", err)
		}
		f.Payload = text
	}
	if len(f.Payload) > MaxPayload {
		return Frame{}, errTooLong
	}
	return f, nil
}

// ParseFrame decodes a frame. It returns no message and no error for an unknown kind, which may come from a later
// version.
func ParseFrame(f Frame) (PageMessage, error) {
	switch f.Kind {
	case KindReady:
		return parseEmpty(f, Ready{})
	case KindPicture:
		return parsePicture(f.Payload)
	case KindPlace:
		return parseJSON[Place](f)
	case KindChoices:
		return parseJSON[Choices](f)
	case KindDialog:
		return parseJSON[Dialog](f)
	case KindSettled:
		return parseEmpty(f, Settled{})
	case KindClosed:
		return parseJSON[Closed](f)
	case KindView:
		return parseJSON[View](f)
	case KindSeen:
		if len(f.Payload) != 4 {
			return nil, errors.New("seen: a number of four bytes")
		}
		return Seen{Seq: binary.BigEndian.Uint32(f.Payload)}, nil
	case KindInput:
		return parseJSON[Input](f)
	case KindChoose:
		return parseJSON[Choose](f)
	case KindEnd:
		return parseEmpty(f, End{})
	}
	return nil, nil
}

func decodeJSON[M PageMessage](payload []byte) (M, error) {
	var m, none M
	if err := json.Unmarshal(payload, &m); err != nil {
		return none, fmt.Errorf("%T: not its JSON", m) // the text may be the owner's
	}
	if err := m.check(); err != nil {
		return none, err
	}
	return m, nil
}

func parseJSON[M PageMessage](f Frame) (PageMessage, error) {
	m, err := decodeJSON[M](f.Payload)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func parseEmpty(f Frame, m PageMessage) (PageMessage, error) {
	if len(f.Payload) > 0 {
		return nil, fmt.Errorf("%T: has no payload", m)
	}
	return m, nil
}

// pictureHeaderSize is sequence, width, height and scale.
const pictureHeaderSize = 4 + 2 + 2 + 8

func parsePicture(b []byte) (PageMessage, error) {
	if len(b) < pictureHeaderSize {
		return nil, errors.New("picture: shorter than its head")
	}
	p := Picture{
		Seq:   binary.BigEndian.Uint32(b),
		Width: int(binary.BigEndian.Uint16(b[4:])), Height: int(binary.BigEndian.Uint16(b[6:])),
		Scale: math.Float64frombits(binary.BigEndian.Uint64(b[8:])), JPEG: b[pictureHeaderSize:],
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return p, nil
}

func (Ready) check() error   { return nil }
func (Settled) check() error { return nil }
func (Seen) check() error    { return nil }
func (End) check() error     { return nil }

func (p Picture) check() error {
	switch {
	case !validSide(p.Width) || !validSide(p.Height):
		return errors.New("picture: a size out of bounds")
	case !validScale(p.Scale):
		return errors.New("picture: a scale out of bounds")
	case len(p.JPEG) < 3 || p.JPEG[0] != 0xFF || p.JPEG[1] != 0xD8 || p.JPEG[2] != 0xFF:
		return errors.New("picture: not a JPEG")
	}
	return nil
}

func (p Place) check() error {
	if !validText(p.Origin) || !validText(p.Title) || !validText(p.Blocked) {
		return errors.New("place: a text out of bounds")
	}
	return nil
}

func (c Choices) check() error {
	if !validID(c.ID) || len(c.Options) > MaxChoices {
		return errors.New("choices: a name or a length out of bounds")
	}
	if c.Picker != "" && !slices.Contains(Pickers, c.Picker) {
		return errors.New("choices: a picker that is not known")
	}
	for _, text := range []string{c.Value, c.Min, c.Max, c.Step} {
		if len(text) > maxNameBytes || !utf8.ValidString(text) {
			return errors.New("choices: a text out of bounds")
		}
	}
	left := MaxChoiceText
	for _, o := range c.Options {
		left -= len(o.Label) + len(o.Value)
		if !validText(o.Label) || !validText(o.Value) || left < 0 {
			return errors.New("choices: a text out of bounds")
		}
	}
	return nil
}

func (d Dialog) check() error {
	switch {
	case !validID(d.ID):
		return errors.New("dialog: a name out of bounds")
	case d.Kind != "" && !slices.Contains(dialogKinds, d.Kind):
		return errors.New("dialog: a kind that is not known")
	case !validText(d.Message) || !validText(d.Default):
		return errors.New("dialog: a text out of bounds")
	}
	return nil
}

func (c Closed) check() error {
	if !validText(c.Reason) {
		return errors.New("closed: a text out of bounds")
	}
	return nil
}

func (v View) check() error {
	switch {
	case !validSide(v.Width) || !validSide(v.Height):
		return errors.New("view: a size out of bounds")
	case !validScale(v.Scale):
		return errors.New("view: a scale out of bounds")
	case v.Quality < 1 || v.Quality > 100:
		return errors.New("view: a quality out of bounds")
	}
	return nil
}

func (c Choose) check() error {
	if !validID(c.ID) || !validText(c.Value) {
		return errors.New("choose: a text out of bounds")
	}
	return nil
}

func (i Input) check() error {
	if !i.known() {
		return errors.New("input: a kind or an action that is not known")
	}
	switch {
	case !inRange(i.X, 0, MaxSide) || !inRange(i.Y, 0, MaxSide):
		return errors.New("input: a place out of bounds")
	case !inRange(i.DX, -MaxSide, MaxSide) || !inRange(i.DY, -MaxSide, MaxSide):
		return errors.New("input: a distance out of bounds")
	case !slices.Contains(pointerButtons, i.Button) || i.Buttons < 0 || i.Buttons > 7 || i.Clicks < 0 || i.Clicks > 3:
		return errors.New("input: a button out of bounds")
	case i.Modifiers < 0 || i.Modifiers > 15:
		return errors.New("input: modifiers out of bounds")
	case len(i.Key) > maxNameBytes || len(i.Code) > maxNameBytes || !utf8.ValidString(i.Key) || !utf8.ValidString(i.Code):
		return errors.New("input: a key out of bounds")
	case !validText(i.Text):
		return errors.New("input: a text out of bounds")
	}
	return nil
}

func (i Input) known() bool {
	switch i.Kind {
	case InputPointer:
		return i.Action == ActionMove || i.Action == ActionDown || i.Action == ActionUp
	case InputKey:
		return (i.Action == ActionDown || i.Action == ActionUp) && i.Key != ""
	case InputText:
		return i.Action == "" && i.Text != ""
	case InputWheel, InputBack, InputReload:
		return i.Action == ""
	}
	return false
}

func validSide(n int) bool      { return n >= 1 && n <= MaxSide }
func validScale(f float64) bool { return f > 0 && f <= MaxScale } // false for NaN
func validText(s string) bool   { return len(s) <= MaxText && utf8.ValidString(s) }
func validID(s string) bool     { return s != "" && len(s) <= maxNameBytes && utf8.ValidString(s) }

func inRange(f, low, high float64) bool { return f >= low && f <= high }
