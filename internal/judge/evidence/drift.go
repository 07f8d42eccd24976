package evidence

import "github.com/pdpp-go/pdpp/protocol"

// These types describe how a provider's answers differ from what the connector expects, as reported by runs.
type (
	Drift      = protocol.AnswerDrift
	Difference = protocol.AnswerDifference
	Total      = protocol.AnnouncedTotal
	Beginning  = protocol.HistoryBeginning
)

// Kinds of differences.
const (
	NewMember    = protocol.NewMember
	AbsentMember = protocol.AbsentMember
	OtherType    = protocol.OtherType
	OtherTotal   = protocol.OtherTotal
	SmallPage    = protocol.SmallPage
	HiddenMember = protocol.HiddenMember
)
