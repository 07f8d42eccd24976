package outbox

import (
	"slices"
	"time"

	"github.com/pdpp-go/pdpp/internal/device/wire"
)

// modelItem is an item as the contract describes it, without a database.
type modelItem struct {
	id, source, payload, holder, cause string
	kind                               ItemKind
	status                             string
	epoch                              int64
	attempts                           int
	created, due, until                time.Time
}

type model struct {
	items []*modelItem // in the order of the queue
	now   time.Time
}

func (m *model) find(id string) *modelItem {
	for _, i := range m.items {
		if i.id == id {
			return i
		}
	}
	return nil
}

func (m *model) enqueue(items []QueuedItem) error {
	kept := slices.Clone(m.items)
	for _, i := range items {
		if have := m.find(i.ID); have != nil {
			if have.payload != string(i.Payload)+string(i.Packed) || have.kind != i.Kind || have.source != i.SourceInstanceID {
				m.items = kept
				return ErrConflict
			}
			continue
		}
		m.items = append(m.items, &modelItem{id: i.ID, source: i.SourceInstanceID, payload: string(i.Payload) +
			string(i.Packed), kind: i.Kind,
			status: "ready", created: m.now, due: m.now})
	}
	return nil
}

func (m *model) claim(holder string, n int, lease time.Duration) []*modelItem {
	var claimed []*modelItem
	withheld := map[string]bool{} // sources with something so far that is neither acknowledged nor to be had
	for _, i := range m.items {
		due := i.status == "ready" && !i.due.After(m.now)
		free := due && (i.kind != Checkpoint || !withheld[i.source])
		withheld[i.source] = withheld[i.source] || i.status != "succeeded" && !due
		if free && len(claimed) < n {
			claimed = append(claimed, i)
		}
	}
	for _, i := range claimed {
		i.status, i.holder, i.until = "leased", holder, m.now.Add(lease)
		i.epoch++
	}
	return claimed
}

// settle applies a change if the lease is the current one.
func (m *model) settle(i QueuedItem, change func(*modelItem)) error {
	have := m.find(i.ID)
	if have == nil || have.status != "leased" || have.holder != i.Lease.Holder || have.epoch != i.Lease.Epoch ||
		!m.now.Before(have.until) {
		return ErrLeaseLost
	}
	change(have)
	return nil
}

func (m *model) prune(keep int) {
	newest := 0
	for n := len(m.items) - 1; n >= 0; n-- {
		if m.items[n].status != "succeeded" {
			continue
		}
		if newest++; newest > keep {
			m.items = slices.Delete(m.items, n, n+1)
		}
	}
}

func (m *model) size() (n int64) {
	for _, i := range m.items {
		if i.status != "succeeded" {
			n += int64(len(i.payload))
		}
	}
	return n
}

func (m *model) counts(source string) (c wire.OutboxCounts) {
	for _, i := range m.items {
		if source != "" && i.source != source {
			continue
		}
		c.Total++
		if i.kind == Gap && i.status != "succeeded" {
			c.BacklogOpen++
		}
		switch i.status {
		case "ready":
			c.Pending++
			if i.due.After(m.now) {
				c.Retrying++
			}
			if c.OldestPendingAt == nil || i.created.Before(*c.OldestPendingAt) {
				c.OldestPendingAt = &i.created
			}
		case "leased":
			c.Leased++
			if !m.now.Before(i.until) {
				c.StaleLeases++
			}
		case "dead_letter":
			c.DeadLetter++
		case "succeeded":
			c.Succeeded++
		}
	}
	return c
}
