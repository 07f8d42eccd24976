package outbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	childVariable = "PDPP_OUTBOX_CHILD" // name of the child; present: this process is one
	pathVariable  = "PDPP_OUTBOX_PATH"
	clockVariable = "PDPP_OUTBOX_CLOCK" // hours that the child's clock is ahead
)

func TestMain(m *testing.M) {
	if name := os.Getenv(childVariable); name != "" {
		if err := playCollector(context.Background(), name); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// The lines of a child, each written at once, so that several children can
// share a pipe and their order is the order of events.
const (
	sayIntend  = "intend"  // an item is about to be enqueued
	sayKept    = "kept"    // Enqueue returned
	sayDeliver = "deliver" // the server has the item, not yet acknowledged
	sayAcked   = "acked"   // Ack returned
	sayWork    = "work"    // a round of the loop begins
)

func say(what, id string) { fmt.Fprintf(os.Stdout, "%s %s\n", what, id) }

// child is a collector that runs until it is killed.
type child struct {
	name   string
	box    *Outbox
	ahead  time.Duration
	rand   *rand.Rand
	serial int
}

func playCollector(ctx context.Context, name string) error {
	hours, err := strconv.Atoi(os.Getenv(clockVariable))
	if err != nil {
		return err
	}
	say(sayWork, name)
	box, err := Open(ctx, os.Getenv(pathVariable))
	if err != nil {
		return err
	}
	c := &child{name: name, box: box, ahead: time.Duration(hours) * time.Hour,
		rand: rand.New(rand.NewPCG(uint64(hours), uint64(len(name))))}
	for {
		say(sayWork, name)
		if err := c.round(ctx); err != nil {
			return err
		}
	}
}

func (c *child) now() time.Time { return time.Now().Add(c.ahead) }

func (c *child) round(ctx context.Context) error {
	if err := c.enqueueSlice(ctx); err != nil {
		return err
	}
	if _, err := c.box.Release(ctx, c.now(), c.now()); err != nil {
		return err
	}
	if _, err := c.box.RequeueDeadLetters(ctx, "src-a", c.now()); err != nil {
		return err
	}
	items, err := c.box.Claim(ctx, c.name, 4, 10*time.Minute, c.now())
	if err != nil {
		return err
	}
	failed := map[string]bool{} // sources of which something was not delivered
	for _, i := range items {
		if i.Kind == Checkpoint && failed[i.SourceInstanceID] {
			if err := c.box.Retry(ctx, "behind", c.now(), c.now(), i); err != nil && !errors.Is(err, ErrLeaseLost) {
				return err
			}
			continue
		}
		sent, err := c.deliver(ctx, i)
		if err != nil && !errors.Is(err, ErrLeaseLost) {
			return err
		}
		failed[i.SourceInstanceID] = failed[i.SourceInstanceID] || !sent
	}
	return nil
}

// enqueueSlice adds some batches and the checkpoint behind them in one call.
func (c *child) enqueueSlice(ctx context.Context) error {
	source := sources[c.rand.IntN(len(sources))]
	var items []QueuedItem
	for n := range 3 {
		c.serial++
		kind := RecordBatch
		if n == 2 {
			kind = Checkpoint
		}
		id := fmt.Sprintf("%s%s-%d", IDPrefix, c.name, c.serial)
		say(sayIntend, id)
		items = append(
			items,
			QueuedItem{ID: id, SourceInstanceID: source, Kind: kind, Payload: payloadOf(id), Packed: packedOf(id),
				BodyHash: id},
		)
	}
	if err := c.box.Enqueue(ctx, items, c.now()); err != nil {
		return err
	}
	for _, i := range items {
		say(sayKept, i.ID)
	}
	return nil
}

func payloadOf(id string) jsontext.Value { return jsontext.Value(strconv.Quote("content of " + id)) }

func packedOf(id string) []byte { return bytes.Repeat([]byte(id+"\x00\xff"), 100) }

// deliver sends an item to the server, which is the parent; sometimes the server is busy or refuses.
func (c *child) deliver(ctx context.Context, i QueuedItem) (sent bool, err error) {
	if string(i.Payload) != string(payloadOf(i.ID)) || !bytes.Equal(i.Packed, packedOf(i.ID)) {
		return false, fmt.Errorf("item %s carries %s", i.ID, i.Payload)
	}
	switch c.rand.IntN(10) {
	case 0:
		return false, c.box.Retry(ctx, "http_503", c.now(), c.now(), i)
	case 1:
		return false, c.box.DeadLetter(ctx, "http_400", c.now(), i)
	}
	say(sayDeliver, i.ID)
	if err := c.box.Ack(ctx, "", c.now(), i); err != nil {
		return false, err
	}
	say(sayAcked, i.ID)
	return true, nil
}
