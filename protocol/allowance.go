package protocol

import "regexp"

// Numbers are named values that governors of different runs exchange. The runner passes them on without reading
// them.
type Numbers map[string]float64

// Allowance, with a request id, names the quota that the requests of a sender count against: that of an account,
// or that of this address. The runner replies with an AllowanceShare. The account name is neither stored nor
// logged. Without a request id, it reports news for the concurrent runs on a quota, and learned state for later
// runs.
type Allowance struct {
	RequestID string  `json:"request_id,omitzero"`
	Sender    string  `json:"sender"` // as in ProviderWait
	Provider  string  `json:"provider,omitzero"`
	Account   string  `json:"account,omitzero"`
	Address   bool    `json:"address,omitzero"`
	News      Numbers `json:"news,omitempty"`
	Learned   Numbers `json:"learned,omitempty"`
}

// AllowanceShare is the run's part of a quota: how many runs share it, and the place of this run, from 0 on. It
// is the reply to an Allowance with its request id. It is sent again without one when the share changes or other
// runs have news.
type AllowanceShare struct {
	RequestID string          `json:"request_id,omitzero"`
	Sender    string          `json:"sender"`
	Runs      int             `json:"runs"`
	Place     int             `json:"place"`
	Learned   Numbers         `json:"learned,omitempty"` // state learned by earlier runs; only in the reply
	News      []AllowanceNews `json:"news,omitempty"`
}

// AllowanceNews is the latest update of another run on the quota, and the place of that run.
type AllowanceNews struct {
	From    int64   `json:"from"` // identifies the run
	Runs    int     `json:"runs"`
	Place   int     `json:"place"`
	Numbers Numbers `json:"numbers"`
}

func (*Allowance) Type() MessageType      { return TypeAllowance }
func (*AllowanceShare) Type() MessageType { return TypeAllowanceShare }

// Bounds of messages about a quota.
const (
	MaxAllowances    = 8   // quotas of one run
	MaxAllowanceRuns = 256 // runs that share one quota
	maxAllowanceName = 500 // bytes of the name of a provider or an account
	maxNumbers       = 64
)

var numberName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

func (m *Allowance) check() *Violation {
	sender := messageRule{!isBlank(m.Sender) && len(m.Sender) <= maxSender,
		"sender: a non-blank string of at most 200 bytes"}
	if m.RequestID == "" {
		return firstBroken(sender,
			messageRule{m.Provider == "" && m.Account == "" && !m.Address, "provider, account and address: with a request_id"},
			messageRule{len(m.News)+len(m.Learned) > 0, "news or learned: at least one of them"},
			m.News.rule("news"), m.Learned.rule("learned"),
		)
	}
	return firstBroken(
		sender,
		messageRule{!isBlank(m.RequestID), "request_id: a non-blank string"},
		messageRule{!isBlank(m.Provider) && len(m.Provider) <= maxAllowanceName,
			"provider: a non-blank string of at most 500 bytes"},
		messageRule{
			len(m.Account) <= maxAllowanceName && !isBlank(m.Account) != m.Address,
			"account, non-blank and of at most 500 bytes, or address",
		},
		messageRule{len(m.News)+len(m.Learned) == 0, "news and learned: without a request_id"},
	)
}

func (m *AllowanceShare) check() *Violation {
	rules := []messageRule{
		{!isBlank(m.Sender), "sender: a non-blank string"},
		shareRule(m.Runs, m.Place),
		m.Learned.rule("learned"),
		{len(m.News) < MaxAllowanceRuns, "news: of at most 255 runs"},
	}
	for i := range m.News {
		rules = append(rules, shareRule(m.News[i].Runs, m.News[i].Place), m.News[i].Numbers.rule("news.numbers"))
	}
	return firstBroken(rules...)
}

func shareRule(runs, place int) messageRule {
	return messageRule{place >= 0 && place < runs && runs <= MaxAllowanceRuns, "place: 0 to runs-1, and at most 256 runs"}
}

func (n Numbers) rule(name string) messageRule {
	want := name + ": at most 64 numbers, by names of small letters, digits and underscores"
	if len(n) > maxNumbers {
		return messageRule{want: want}
	}
	for member := range n {
		if !numberName.MatchString(member) {
			return messageRule{want: want}
		}
	}
	return messageRule{holds: true}
}
