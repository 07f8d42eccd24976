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
var lenientDecoding = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

func decodeLenient(raw []byte, into any) error { return json.Unmarshal(raw, into, lenientDecoding) }

var (
	errMissingTree = errors.New("the conversation has no tree of messages")
	errMissingID   = errors.New("the conversation has no id")
	errMissingTime = errors.New("the conversation has no time")
)

// flexibleTime is a point in time, as text or as seconds since 1970. Values up to 1970 are unknown. Both formats are
// rounded to the microsecond, so that they are equal for one moment.
type flexibleTime struct{ time.Time }

func (m *flexibleTime) UnmarshalJSON(raw []byte) error {
	*m = flexibleTime{}
	switch jsontext.Value(raw).Kind() {
	case '"':
		var text string
		if err := decodeLenient(raw, &text); err != nil {
			return err
		}
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil { // some times come without a zone, and mean UTC
			if at, err = time.Parse("2006-01-02T15:04:05.999999999", text); err != nil {
				return nil
			}
		}
		m.setTime(at.Round(time.Microsecond))
	case '0':
		// A decimal fraction is not a binary one: rounded to microseconds it is exact.
		seconds, ok := new(big.Float).SetPrec(128).SetString(string(raw))
		if !ok || seconds.IsInf() {
			return nil
		}
		micros, _ := seconds.Mul(seconds, big.NewFloat(1e6)).Float64()
		if math.Abs(micros) < 1e17 {
			m.setTime(time.UnixMicro(int64(math.Round(micros))))
		}
	}
	return nil
}

func (m *flexibleTime) setTime(at time.Time) {
	if at.Unix() > 0 && at.Year() <= 9999 {
		m.Time = at.UTC()
	}
}

// recordTime is the record's spelling; nil when it is unknown.
func (m flexibleTime) recordTime() *string {
	if m.IsZero() {
		return nil
	}
	s := m.Format("2006-01-02T15:04:05.000000Z07:00")
	return &s
}

// conversationRow is a conversation without its messages, as lists, details and exports have it.
type conversationRow struct {
	ID             string       `json:"id"`
	ConversationID string       `json:"conversation_id"`
	Title          *string      `json:"title"`
	CreateTime     flexibleTime `json:"create_time"`
	UpdateTime     flexibleTime `json:"update_time"`
	CurrentNode    *string      `json:"current_node"`
	IsArchived     *bool        `json:"is_archived"`
	IsStarred      *bool        `json:"is_starred"`
	WorkspaceID    *string      `json:"workspace_id"`
	GizmoID        *string      `json:"gizmo_id"`
}

// conversationID is the conversation's id under either of its names.
func (r *conversationRow) conversationID() string {
	if r.ConversationID != "" {
		return r.ConversationID
	}
	return r.ID
}

// listItem returns the list item of a conversation. A conversation without an update time uses its creation time.
func (r *conversationRow) listItem(branch *int) (connectorkit.Item, error) {
	at := r.UpdateTime
	if at.IsZero() {
		at = r.CreateTime
	}
	switch {
	case r.conversationID() == "":
		return connectorkit.Item{Record: connectorkit.Unreadable("", errMissingID)}, errMissingID
	case at.IsZero():
		return connectorkit.Item{Record: connectorkit.Unreadable(r.conversationID(), errMissingTime)}, errMissingTime
	}
	return connectorkit.Item{Key: r.conversationID(), Time: at.Time, Record: connectorkit.Upsert(r.toRecord(branch)),
		Locator: r.encodeLocator(at.Time)}, nil
}

// encodeLocator stores what only lists contain, for a conversation that a later run reads, and its update time. An
// export with that version closes the gap as well as the site does.
func (r *conversationRow) encodeLocator(at time.Time) jsontext.Value {
	raw, err := json.Marshal(struct {
		IsStarred   *bool     `json:"is_starred,omitzero"`
		WorkspaceID *string   `json:"workspace_id,omitzero"`
		ListedAt    time.Time `json:"listed_at"`
	}{r.IsStarred, validOrNil(r.WorkspaceID), at.UTC()})
	if err != nil {
		return nil
	}
	return raw
}

// locatorTime returns the update time of a conversation that an earlier run left as a gap; zero when it is unknown.
func locatorTime(locator jsontext.Value) time.Time {
	var kept struct {
		ListedAt time.Time `json:"listed_at"`
	}
	if len(locator) == 0 || decodeLenient(locator, &kept) != nil {
		return time.Time{}
	}
	return kept.ListedAt
}

// fillFromLocator copies from a locator what the conversation itself lacks.
func (r *conversationRow) fillFromLocator(locator jsontext.Value) {
	var kept conversationRow
	if decodeLenient(locator, &kept) != nil {
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
	conversationRow
	Mapping map[string]treeNode `json:"mapping"`

	file string // of the export, that it was read from
}

// treeNode is a place in the tree of messages.
type treeNode struct {
	ID       string       `json:"id"`
	Parent   *string      `json:"parent"`
	Children []string     `json:"children"`
	Message  *wireMessage `json:"message"`
}

type wireMessage struct {
	ID     string `json:"id"`
	Author struct {
		Role string `json:"role"`
	} `json:"author"`
	CreateTime flexibleTime   `json:"create_time"`
	Content    messageContent `json:"content"`
	Metadata   jsontext.Value `json:"metadata"`
	Recipient  string         `json:"recipient"`
}

// messageMetadata is decoded separately, so that invalid metadata does not cost the message.
type messageMetadata struct {
	ModelSlug     *string `json:"model_slug"`
	FinishDetails *struct {
		Type *string `json:"type"`
	} `json:"finish_details"`
	Citations   []jsontext.Value `json:"citations"`
	Attachments []struct {
		ID string `json:"id"`
	} `json:"attachments"`
}

// parseConversation reads one conversation. An answer without a tree is not an empty conversation.
func parseConversation(raw []byte) (*conversation, error) {
	var c conversation
	if err := decodeLenient(raw, &c); err != nil {
		return nil, err
	}
	switch {
	case c.conversationID() == "":
		return nil, errMissingID
	case c.Mapping == nil:
		return nil, errMissingTree
	}
	return &c, nil
}

// currentBranch are the nodes from the root to the current one.
func (c *conversation) currentBranch() map[string]bool {
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
