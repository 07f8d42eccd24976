package chatgpt

import (
	"errors"
	"math"
	"math/big"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pdpp-go/pdpp/connectorkit"
)

// The site and its export spell text that other programs cut in the middle of a character.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

func decode(raw []byte, into any) error { return json.Unmarshal(raw, into, lenient) }

var (
	errNoTree = errors.New("the conversation has no tree of messages")
	errNoID   = errors.New("the conversation has no id")
	errNoTime = errors.New("the conversation has no time")
)

// moment is a point in time, as text or as seconds since 1970. What is not after 1970 is
// unknown. Both spellings of one moment are equal: they are kept to the microsecond.
type moment struct{ time.Time }

func (m *moment) UnmarshalJSON(raw []byte) error {
	*m = moment{}
	switch jsontext.Value(raw).Kind() {
	case '"':
		var text string
		if err := decode(raw, &text); err != nil {
			return err
		}
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil { // some times come without a zone, and mean UTC
			if at, err = time.Parse("2006-01-02T15:04:05.999999999", text); err != nil {
				return nil
			}
		}
		m.set(at.Round(time.Microsecond))
	case '0':
		// A decimal fraction is not a binary one: rounded to microseconds it is exact.
		seconds, ok := new(big.Float).SetPrec(128).SetString(string(raw))
		if !ok || seconds.IsInf() {
			return nil
		}
		micros, _ := seconds.Mul(seconds, big.NewFloat(1e6)).Float64()
		if math.Abs(micros) < 1e17 {
			m.set(time.UnixMicro(int64(math.Round(micros))))
		}
	}
	return nil
}

func (m *moment) set(at time.Time) {
	if at.Unix() > 0 && at.Year() <= 9999 {
		m.Time = at.UTC()
	}
}

// text is the record's spelling; nil when it is unknown.
func (m moment) text() *string {
	if m.IsZero() {
		return nil
	}
	s := m.Format("2006-01-02T15:04:05.000000Z07:00")
	return &s
}

// row is a conversation without its messages, as lists, details and exports have it.
type row struct {
	ID             string  `json:"id"`
	ConversationID string  `json:"conversation_id"`
	Title          *string `json:"title"`
	CreateTime     moment  `json:"create_time"`
	UpdateTime     moment  `json:"update_time"`
	CurrentNode    *string `json:"current_node"`
	IsArchived     *bool   `json:"is_archived"`
	IsStarred      *bool   `json:"is_starred"`
	WorkspaceID    *string `json:"workspace_id"`
	GizmoID        *string `json:"gizmo_id"`
}

// key is the conversation's id under either of its names.
func (r *row) key() string {
	if r.ConversationID != "" {
		return r.ConversationID
	}
	return r.ID
}

// item makes the listed thing of a lane. A conversation that was never updated is as new as
// it was made.
func (r *row) item(branch *int) (connectorkit.Item, error) {
	at := r.UpdateTime
	if at.IsZero() {
		at = r.CreateTime
	}
	switch {
	case r.key() == "":
		return connectorkit.Item{Record: connectorkit.Unreadable("", errNoID)}, errNoID
	case at.IsZero():
		return connectorkit.Item{Record: connectorkit.Unreadable(r.key(), errNoTime)}, errNoTime
	}
	return connectorkit.Item{Key: r.key(), Time: at.Time, Record: connectorkit.Upsert(r.record(branch)), Locator: r.locator(at.Time)}, nil
}

// locator keeps what only lists tell, for a conversation that is read in a later run, and how new
// it was then: an export that has it so new closes the gap as well as the site does.
func (r *row) locator(at time.Time) jsontext.Value {
	raw, err := json.Marshal(struct {
		IsStarred   *bool     `json:"is_starred,omitzero"`
		WorkspaceID *string   `json:"workspace_id,omitzero"`
		ListedAt    time.Time `json:"listed_at"`
	}{r.IsStarred, clean(r.WorkspaceID), at.UTC()})
	if err != nil {
		return nil
	}
	return raw
}

// listedAt is how new a conversation was that an earlier run left; zero when nobody noted it.
func listedAt(locator jsontext.Value) time.Time {
	var kept struct {
		ListedAt time.Time `json:"listed_at"`
	}
	if len(locator) == 0 || decode(locator, &kept) != nil {
		return time.Time{}
	}
	return kept.ListedAt
}

// from takes over what a locator keeps, where the conversation itself does not say.
func (r *row) from(locator jsontext.Value) {
	var kept row
	if decode(locator, &kept) != nil {
		return
	}
	if r.IsStarred == nil {
		r.IsStarred = kept.IsStarred
	}
	if r.WorkspaceID == nil {
		r.WorkspaceID = kept.WorkspaceID
	}
}

// conversation is one with its messages.
type conversation struct {
	row
	Mapping map[string]node `json:"mapping"`

	file string // of the export, that it was read from
}

// node is a place in the tree of messages.
type node struct {
	ID       string   `json:"id"`
	Parent   *string  `json:"parent"`
	Children []string `json:"children"`
	Message  *message `json:"message"`
}

type message struct {
	ID     string `json:"id"`
	Author struct {
		Role string `json:"role"`
	} `json:"author"`
	CreateTime moment         `json:"create_time"`
	Content    content        `json:"content"`
	Metadata   jsontext.Value `json:"metadata"`
	Recipient  string         `json:"recipient"`
}

// metadata is read apart: what is odd in it must not cost the message.
type metadata struct {
	ModelSlug     *string `json:"model_slug"`
	FinishDetails *struct {
		Type *string `json:"type"`
	} `json:"finish_details"`
	Citations   []jsontext.Value `json:"citations"`
	Attachments []struct {
		ID string `json:"id"`
	} `json:"attachments"`
}

// parse reads one conversation. An answer without a tree is not an empty conversation.
func parse(raw []byte) (*conversation, error) {
	var c conversation
	if err := decode(raw, &c); err != nil {
		return nil, err
	}
	switch {
	case c.key() == "":
		return nil, errNoID
	case c.Mapping == nil:
		return nil, errNoTree
	}
	return &c, nil
}

// branch are the nodes from the root to the current one.
func (c *conversation) branch() map[string]bool {
	on := map[string]bool{}
	if c.CurrentNode == nil {
		return on
	}
	for at := *c.CurrentNode; at != "" && !on[at]; {
		n, ok := c.Mapping[at]
		if !ok {
			break
		}
		on[at] = true
		if at = ""; n.Parent != nil {
			at = *n.Parent
		}
	}
	return on
}
