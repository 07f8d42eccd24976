package evidence

import "github.com/pdpp-go/pdpp/protocol"

// How a provider's answers differ from what the connector expects, as runs report it.
type (
	Drift      = protocol.AnswerDrift
	Difference = protocol.AnswerDifference
	Total      = protocol.AnnouncedTotal
	Beginning  = protocol.HistoryBeginning
)

// The kinds of differences.
const (
	NewMember    = protocol.NewMember
	AbsentMember = protocol.AbsentMember
	OtherType    = protocol.OtherType
	OtherTotal   = protocol.OtherTotal
	SmallPage    = protocol.SmallPage
	HiddenMember = protocol.HiddenMember
)
