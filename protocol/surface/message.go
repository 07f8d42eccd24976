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

// Bounds of values. A value outside is an error, on both ends.
const (
	// MaxText bounds a text that is typed, shown or chosen, in bytes.
	MaxText = 4 << 10
	// MaxChoices bounds a list, and MaxChoiceText all texts of it in bytes.
	MaxChoices    = 500
	MaxChoiceText = 128 << 10
	// MaxSide bounds a page's width and height in CSS pixels.
	MaxSide = 8192
	// MaxScale bounds how many pixels of a picture stand for one of the page.
	MaxScale = 4

	maxName = 64
)

// Message is what a frame says. The set of implementations is closed.
type Message interface {
	kind() Kind
	check() error
}

// Ready says that a page is there to be shown.
type Ready struct{}

// Picture is what the page looks like.
type Picture struct {
	Seq           uint32  // Seen answers with it
	Width, Height int     // of the page's visible part, in CSS pixels: the range of Input's X and Y
	Scale         float64 // pixels of the picture for one CSS pixel
	JPEG          []byte
}

// Place is what the owner looks at, in words that no page can paint.
type Place struct {
	Origin string `json:"origin"`
	Title  string `json:"title"`
	// Blocked is the host of a document that was not loaded, as it is outside of what the
	// connector's manifest allows; empty for none.
	Blocked string `json:"blocked,omitempty"`
}

// Choice is one line of a list.
type Choice struct {
	Label    string `json:"label"`
	Value    string `json:"value"`
	Selected bool   `json:"selected,omitempty"`
	Disabled bool   `json:"disabled,omitempty"`
}

// Choices is a list that the owner opened on the page, which pictures do not show. None
// in it means that an earlier list of that id is over, unless it has a Picker: then it is a
// field of that kind, and what is chosen is its value.
type Choices struct {
	ID      string   `json:"id"`
	Options []Choice `json:"options"`
	// Picker is one of Pickers; empty for a list. The rest describes the field as HTML does.
	Picker string `json:"picker,omitempty"`
	Value  string `json:"value,omitempty"`
	Min    string `json:"min,omitempty"`
	Max    string `json:"max,omitempty"`
	Step   string `json:"step,omitempty"`
}

// Pickers are the fields of HTML whose own windows pictures do not show.
var Pickers = []string{"date", "datetime-local", "month", "week", "time", "color"}

// The kinds of dialogs.
const (
	DialogAlert   = "alert"
	DialogConfirm = "confirm"
	DialogPrompt  = "prompt"
	DialogLeave   = "beforeunload"
)

var dialogKinds = []string{DialogAlert, DialogConfirm, DialogPrompt, DialogLeave}

// Dialog is a question of the page that stops it until it is answered. An empty Kind means
// that the dialog of that id is over.
type Dialog struct {
	ID      string `json:"id"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Default string `json:"default,omitempty"`
}

// Settled says that the owner is signed in: the question needs no answer any more.
type Settled struct{}

// Closed says that there is nothing to show any more.
type Closed struct {
	Reason string `json:"reason"`
}

// View is how the owner looks at the page.
type View struct {
	Width   int     `json:"width"`
	Height  int     `json:"height"`
	Scale   float64 `json:"scale"`
	Quality int     `json:"quality"` // of JPEG, 1 to 100
	// Paused asks for no pictures until the next View.
	Paused bool `json:"paused,omitempty"`
}

// Seen says that a picture was shown; the next one is sent only then.
type Seen struct {
	Seq uint32
}

// The kinds of input. There is no other way to act on a page.
const (
	InputPointer = "pointer"
	InputWheel   = "wheel"
	InputKey     = "key"
	InputText    = "text"
	InputBack    = "back"
	InputReload  = "reload"
)

// What a pointer and a key do.
const (
	ActionMove = "move"
	ActionDown = "down"
	ActionUp   = "up"
)

// The buttons of a pointer.
var buttons = []string{"", "left", "middle", "right"}

// Input is one act of the owner. X and Y are CSS pixels of the page's visible part.
type Input struct {
	Kind   string  `json:"kind"`
	Action string  `json:"action,omitempty"` // of pointer: move, down, up; of key: down, up
	X      float64 `json:"x,omitempty"`
	Y      float64 `json:"y,omitempty"`
	// Button is the one that this is about, Buttons the set that is held (1 left, 2 right, 4 middle).
	Button  string  `json:"button,omitempty"`
	Buttons int     `json:"buttons,omitempty"`
	Clicks  int     `json:"clicks,omitempty"`
	DX      float64 `json:"dx,omitempty"`
	DY      float64 `json:"dy,omitempty"`
	// Key and Code are those of the web's KeyboardEvent.
	Key  string `json:"key,omitempty"`
	Code string `json:"code,omitempty"`
	// Modifiers are those that are held: 1 Alt, 2 Control, 4 Meta, 8 Shift.
	Modifiers int    `json:"modifiers,omitempty"`
	Text      string `json:"text,omitempty"` // of text: what is typed or pasted
}

// Choose answers Choices or Dialog by its id. Accept false leaves things as they are.
type Choose struct {
	ID     string `json:"id"`
	Value  string `json:"value,omitempty"`
	Accept bool   `json:"accept"`
}

// End says that nobody looks any more.
type End struct{}

func (Ready) kind() Kind   { return KindReady }
func (Picture) kind() Kind { return KindPicture }
func (Place) kind() Kind   { return KindPlace }
func (Choices) kind() Kind { return KindChoices }
func (Dialog) kind() Kind  { return KindDialog }
func (Settled) kind() Kind { return KindSettled }
func (Closed) kind() Kind  { return KindClosed }
func (View) kind() Kind    { return KindView }
func (Seen) kind() Kind    { return KindSeen }
func (Input) kind() Kind   { return KindInput }
func (Choose) kind() Kind  { return KindChoose }
func (End) kind() Kind     { return KindEnd }

// Encode makes the frame of a message, if its values are within bounds.
func Encode(m Message) (Frame, error) {
	if err := m.check(); err != nil {
		return Frame{}, err
	}
	f := Frame{Kind: m.kind()}
	switch m := m.(type) {
	case Ready, Settled, End:
	case Picture:
		f.Payload = make([]byte, pictureHead, pictureHead+len(m.JPEG))
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

// Parse reads what a frame says. A kind that is not known gives no message and no error:
// it is of a later version and to be ignored.
func Parse(f Frame) (Message, error) {
	switch f.Kind {
	case KindReady:
		return empty(f, Ready{})
	case KindPicture:
		return parsePicture(f.Payload)
	case KindPlace:
		return text[Place](f)
	case KindChoices:
		return text[Choices](f)
	case KindDialog:
		return text[Dialog](f)
	case KindSettled:
		return empty(f, Settled{})
	case KindClosed:
		return text[Closed](f)
	case KindView:
		return text[View](f)
	case KindSeen:
		if len(f.Payload) != 4 {
			return nil, errors.New("seen: a number of four bytes")
		}
		return Seen{Seq: binary.BigEndian.Uint32(f.Payload)}, nil
	case KindInput:
		return text[Input](f)
	case KindChoose:
		return text[Choose](f)
	case KindEnd:
		return empty(f, End{})
	}
	return nil, nil
}

func as[M Message](payload []byte) (M, error) {
	var m, none M
	if err := json.Unmarshal(payload, &m); err != nil {
		return none, fmt.Errorf("%T: not its JSON", m) // the text may be the owner's
	}
	if err := m.check(); err != nil {
		return none, err
	}
	return m, nil
}

func text[M Message](f Frame) (Message, error) {
	m, err := as[M](f.Payload)
	if err != nil {
		return nil, err
	}
	return m, nil
}

func empty(f Frame, m Message) (Message, error) {
	if len(f.Payload) > 0 {
		return nil, fmt.Errorf("%T: has no payload", m)
	}
	return m, nil
}

// pictureHead is sequence, width, height and scale.
const pictureHead = 4 + 2 + 2 + 8

func parsePicture(b []byte) (Message, error) {
	if len(b) < pictureHead {
		return nil, errors.New("picture: shorter than its head")
	}
	p := Picture{
		Seq:   binary.BigEndian.Uint32(b),
		Width: int(binary.BigEndian.Uint16(b[4:])), Height: int(binary.BigEndian.Uint16(b[6:])),
		Scale: math.Float64frombits(binary.BigEndian.Uint64(b[8:])), JPEG: b[pictureHead:],
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
	case !side(p.Width) || !side(p.Height):
		return errors.New("picture: a size out of bounds")
	case !scale(p.Scale):
		return errors.New("picture: a scale out of bounds")
	case len(p.JPEG) < 3 || p.JPEG[0] != 0xFF || p.JPEG[1] != 0xD8 || p.JPEG[2] != 0xFF:
		return errors.New("picture: not a JPEG")
	}
	return nil
}

func (p Place) check() error {
	if !words(p.Origin) || !words(p.Title) || !words(p.Blocked) {
		return errors.New("place: a text out of bounds")
	}
	return nil
}

func (c Choices) check() error {
	if !id(c.ID) || len(c.Options) > MaxChoices {
		return errors.New("choices: a name or a length out of bounds")
	}
	if c.Picker != "" && !slices.Contains(Pickers, c.Picker) {
		return errors.New("choices: a picker that is not known")
	}
	for _, text := range []string{c.Value, c.Min, c.Max, c.Step} {
		if len(text) > maxName || !utf8.ValidString(text) {
			return errors.New("choices: a text out of bounds")
		}
	}
	left := MaxChoiceText
	for _, o := range c.Options {
		left -= len(o.Label) + len(o.Value)
		if !words(o.Label) || !words(o.Value) || left < 0 {
			return errors.New("choices: a text out of bounds")
		}
	}
	return nil
}

func (d Dialog) check() error {
	switch {
	case !id(d.ID):
		return errors.New("dialog: a name out of bounds")
	case d.Kind != "" && !slices.Contains(dialogKinds, d.Kind):
		return errors.New("dialog: a kind that is not known")
	case !words(d.Message) || !words(d.Default):
		return errors.New("dialog: a text out of bounds")
	}
	return nil
}

func (c Closed) check() error {
	if !words(c.Reason) {
		return errors.New("closed: a text out of bounds")
	}
	return nil
}

func (v View) check() error {
	switch {
	case !side(v.Width) || !side(v.Height):
		return errors.New("view: a size out of bounds")
	case !scale(v.Scale):
		return errors.New("view: a scale out of bounds")
	case v.Quality < 1 || v.Quality > 100:
		return errors.New("view: a quality out of bounds")
	}
	return nil
}

func (c Choose) check() error {
	if !id(c.ID) || !words(c.Value) {
		return errors.New("choose: a text out of bounds")
	}
	return nil
}

func (i Input) check() error {
	if !i.known() {
		return errors.New("input: a kind or an action that is not known")
	}
	switch {
	case !within(i.X, 0, MaxSide) || !within(i.Y, 0, MaxSide):
		return errors.New("input: a place out of bounds")
	case !within(i.DX, -MaxSide, MaxSide) || !within(i.DY, -MaxSide, MaxSide):
		return errors.New("input: a distance out of bounds")
	case !slices.Contains(buttons, i.Button) || i.Buttons < 0 || i.Buttons > 7 || i.Clicks < 0 || i.Clicks > 3:
		return errors.New("input: a button out of bounds")
	case i.Modifiers < 0 || i.Modifiers > 15:
		return errors.New("input: modifiers out of bounds")
	case len(i.Key) > maxName || len(i.Code) > maxName || !utf8.ValidString(i.Key) || !utf8.ValidString(i.Code):
		return errors.New("input: a key out of bounds")
	case !words(i.Text):
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

func side(n int) bool      { return n >= 1 && n <= MaxSide }
func scale(f float64) bool { return f > 0 && f <= MaxScale } // not a number is neither
func words(s string) bool  { return len(s) <= MaxText && utf8.ValidString(s) }
func id(s string) bool     { return s != "" && len(s) <= maxName && utf8.ValidString(s) }

func within(f, low, high float64) bool { return f >= low && f <= high }
