package protocol

// Walk informs the runner about one walk over everything that the source has of a stream, so that stored
// records which the source no longer has can be found. From WalkBegin on, the runner notes the key of each
// RECORD and DETAIL_GAP of the stream; WalkPresent adds keys of records that are there and were not sent.
// WalkEnd asks for the stored keys that the walk did not meet, one page at a time. It is answered by a
// WalkMissing.
type Walk struct {
	Stream    string    `json:"stream"`
	Phase     WalkPhase `json:"phase"`
	Keys      KeyList   `json:"keys,omitempty"`      // only with WalkPresent
	RequestID string    `json:"request_id,omitzero"` // only with WalkEnd
	// Since, only with WalkEnd, is when the part of the source begins that was walked. Older records, and those
	// without a time, are not compared.
	Since string `json:"since,omitzero"`
}

// WalkPhase is a step of a walk.
type WalkPhase string

// The phases of a walk, in their order.
const (
	WalkBegin   WalkPhase = "begin"
	WalkPresent WalkPhase = "present"
	WalkEnd     WalkPhase = "end"
)

// WalkPhases lists every WalkPhase.
var WalkPhases = []WalkPhase{WalkBegin, WalkPresent, WalkEnd}

// WalkMissing answers the end of a walk with stored keys that the walk did not meet.
type WalkMissing struct {
	RequestID string     `json:"request_id"`
	Status    WalkStatus `json:"status"`
	Keys      KeyList    `json:"keys"`
	More      bool       `json:"more,omitzero"` // another WalkEnd returns further keys
}

// WalkStatus is the result of the comparison at the end of a walk.
type WalkStatus string

const (
	// WalkCompared means that Keys are all stored keys that were not met, or a page of them.
	WalkCompared WalkStatus = "compared"
	// WalkRefused means that more than half of a large stream was not met. No key is returned.
	WalkRefused WalkStatus = "refused"
	// WalkUnproven means that the run itself shows that the walk was incomplete. No key is returned.
	WalkUnproven WalkStatus = "unproven"
)

// WalkStatuses lists every WalkStatus.
var WalkStatuses = []WalkStatus{WalkCompared, WalkRefused, WalkUnproven}

// MaxWalkKeys bounds the keys in one WALK or WALK_MISSING.
const MaxWalkKeys = 1000

func (*Walk) Type() MessageType        { return TypeWalk }
func (*WalkMissing) Type() MessageType { return TypeWalkMissing }

func (m *Walk) check() *Violation {
	return firstBroken(
		messageRule{!isBlank(m.Stream), "stream: a non-blank string"},
		enumRule("phase", m.Phase, WalkPhases),
		messageRule{(m.Phase == WalkPresent) == (len(m.Keys) > 0), "keys: with phase present, and with no other"},
		messageRule{len(m.Keys) <= MaxWalkKeys, "keys: at most 1000"},
		messageRule{(m.Phase == WalkEnd) == !isBlank(m.RequestID), "request_id: with phase end, and with no other"},
		messageRule{m.Since == "" || m.Phase == WalkEnd && isTime(m.Since), "since: a time or a date, only with phase end"},
	)
}

func isTime(text string) bool {
	_, err := ParseTime(text)
	return err == nil
}

func (m *WalkMissing) check() *Violation {
	return firstBroken(
		messageRule{!isBlank(m.RequestID), "request_id: a non-blank string"},
		enumRule("status", m.Status, WalkStatuses),
		messageRule{m.Status == WalkCompared || len(m.Keys) == 0 && !m.More, "keys and more: with status compared"},
		messageRule{len(m.Keys) <= MaxWalkKeys, "keys: at most 1000"},
	)
}
