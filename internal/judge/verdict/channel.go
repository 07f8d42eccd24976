package verdict

// channelRule maps actions to a channel. An empty field matches everything.
type channelRule struct {
	Audience  Audience
	Urgency   Urgency
	Satisfied Contract
	Channel   Channel
}

// channelTable is tried in order for each action; the first match decides. No other code decides whether the owner is
// interrupted.
var channelTable = [...]channelRule{
	{AudienceNone, "", "", Calm},
	{AudienceMaintainer, "", "", Advisory},
	{AudienceOwner, "", NothingSatisfiesThis, Advisory},
	{AudienceOwner, Now, "", Attention},
	{AudienceOwner, Overdue, "", Attention},
	{AudienceOwner, Soon, "", Advisory},
	{AudienceOwner, Verifying, "", Advisory},
}

func (c *channelRule) matches(a *RequiredAction) bool {
	return (c.Audience == "" || c.Audience == a.Audience) &&
		(c.Urgency == "" || c.Urgency == a.Urgency) &&
		(c.Satisfied == "" || c.Satisfied == a.SatisfiedWhen.Kind)
}

func channelOf(a *RequiredAction) Channel {
	for i := range channelTable {
		if channelTable[i].matches(a) {
			return channelTable[i].Channel
		}
	}
	return Calm
}

func channelRank(c Channel) int {
	switch c {
	case Attention:
		return 2
	case Advisory:
		return 1
	default:
		return 0
	}
}

// noCause is the cause of a channel that no action raised.
const noCause = "none"

// routeChannel returns the highest channel of all actions and the kind of the
// first action that reaches it.
func routeChannel(actions []RequiredAction) (highest Channel, cause string) {
	highest, cause = Calm, noCause
	for i := range actions {
		if c := channelOf(&actions[i]); cause == noCause || channelRank(c) > channelRank(highest) {
			highest, cause = c, string(actions[i].Kind)
		}
	}
	return highest, cause
}
