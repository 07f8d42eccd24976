package collector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pdpp-go/pdpp/internal/device/outbox"
	"github.com/pdpp-go/pdpp/internal/device/wire"
)

// Lifecycle is the one word for a source's queue, the most pressing first.
type Lifecycle string

const (
	LifeDeadLetter      Lifecycle = "dead_letter"
	LifeStaleLease      Lifecycle = "stale_lease"
	LifeDraining        Lifecycle = "draining"
	LifeRetryable       Lifecycle = "retryable_backlog"
	LifeCoverageMissing Lifecycle = "coverage_missing"
	LifeIdle            Lifecycle = "healthy_idle"
)

// Inspection is the status of a source on this host. Collecting it sends no request.
type Inspection struct {
	SourceInstanceID string                 `json:"source_instance_id"`
	ConnectorID      string                 `json:"connector_id"`
	Profile          string                 `json:"profile,omitzero"`
	Queue            string                 `json:"queue"`
	QueueExists      bool                   `json:"queue_exists"`
	Lifecycle        Lifecycle              `json:"lifecycle_state"`
	Outbox           wire.OutboxCounts      `json:"outbox"`
	OpenGaps         int                    `json:"gaps_open"`
	Failures         []wire.DeadLetterClass `json:"failures,omitempty"`
}

// Inspect reads the queue beside whatever works on it.
func (c *Collector) Inspect(ctx context.Context) (i Inspection, err error) {
	i = Inspection{SourceInstanceID: c.Profile.SourceInstanceID, ConnectorID: c.Profile.ConnectorID,
		Profile: c.Profile.Path, Queue: c.Profile.Queue, Lifecycle: LifeIdle}
	box, err := outbox.OpenToRead(ctx, c.Profile.Queue)
	if errors.Is(err, outbox.ErrNotFound) {
		return i, nil
	}
	if err != nil {
		return i, fmt.Errorf("open the queue: %w", err)
	}
	defer func() {
		if closeErr := box.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("close the queue: %w", closeErr)
		}
	}()
	i.QueueExists = true
	if err := ownQueue(ctx, box, c.Profile, c.now()); err != nil {
		return i, err
	}
	if i.Outbox, err = box.Counts(ctx, c.Profile.SourceInstanceID, c.now()); err != nil {
		return i, fmt.Errorf("count the queue: %w", err)
	}
	failed, err := box.DeadLetters(ctx, c.Profile.SourceInstanceID)
	if err != nil {
		return i, fmt.Errorf("read what was put aside: %w", err)
	}
	var codes []string
	for _, item := range failed {
		codes = append(codes, item.LastError)
	}
	i.Failures = classesOf(codes)
	ledger, _, err := readLedger(c.Profile.Queue)
	if err != nil {
		return i, err
	}
	i.OpenGaps = len(ledger.gaps)
	i.Lifecycle = lifecycle(i.Outbox, i.OpenGaps)
	return i, nil
}

func lifecycle(c wire.OutboxCounts, gaps int) Lifecycle {
	switch {
	case c.DeadLetter > 0:
		return LifeDeadLetter
	case c.StaleLeases > 0:
		return LifeStaleLease
	case c.Leased > 0 || c.Pending > c.Retrying:
		return LifeDraining
	case c.Retrying > 0:
		return LifeRetryable
	case gaps > 0:
		return LifeCoverageMissing
	default:
		return LifeIdle
	}
}

// Health is a doctor's word.
type Health string

const (
	HealthOK       Health = "ok"
	HealthWarning  Health = "warning"
	HealthCritical Health = "critical"
)

// Finding is one thing that is wrong, with what to do about it.
type Finding struct {
	Code string `json:"code"`
	Text string `json:"text"`
	Next string `json:"next_step"`
}

// Diagnosis is an Inspection with what is wrong.
type Diagnosis struct {
	Status   Health    `json:"status"`
	Findings []Finding `json:"findings"`
	Inspection
}

// Diagnose looks at the queue, the connector and the server. It reads the
// source's cursors to see that the server knows this device, and sends nothing.
func (c *Collector) Diagnose(ctx context.Context) (Diagnosis, error) {
	i, err := c.Inspect(ctx)
	d := Diagnosis{Status: HealthOK, Findings: []Finding{}, Inspection: i}
	if err != nil {
		return d, err
	}
	flag := " --source-instance-id " + c.Profile.SourceInstanceID
	run := "Run it: pdpp-local-collector run" + flag
	switch i.Lifecycle {
	case LifeDeadLetter:
		d.add(HealthCritical, "failed_uploads", fmt.Sprintf("%d uploads failed and were put aside", i.Outbox.DeadLetter),
			"See what would be sent again: pdpp-local-collector recover"+flag)
	case LifeStaleLease:
		d.add(HealthWarning, "stale_leases", "an earlier collector was interrupted while it uploaded", run)
	case LifeRetryable:
		d.add(HealthWarning, "uploads_waiting", fmt.Sprintf("%d uploads wait for their next attempt", i.Outbox.Retrying), run)
	case LifeDraining:
		if old := i.Outbox.OldestPendingAt; old != nil && c.now().Sub(*old) > staleAfter {
			d.add(HealthWarning, "uploads_waiting", "uploads have been waiting for more than "+staleAfter.String(), run)
		}
	}
	roots, err := c.Roots(ctx)
	if err != nil {
		d.add(HealthCritical, "connector_missing", err.Error(), "Install the connector, or correct the profile.")
	}
	for _, root := range roots {
		if err := readable(root); err != nil {
			d.add(HealthCritical, "root_unreadable", fmt.Sprintf("%s cannot be read: %v", root, errors.Unwrap(err)),
				permissionAdvice(root))
		}
	}
	var refusal *wire.Error
	state, err := c.client().State(ctx, c.Profile.SourceInstanceID)
	if errors.As(err, &refusal) {
		switch condition := refusal.Condition(); {
		case refusal.Action() == wire.Wait, condition == wire.ServerUnreachable:
			d.add(HealthWarning, "server_unavailable", refusal.Error(),
				"Check that the server runs and that this host can reach it.")
		case condition == wire.UpgradeNeeded:
			d.add(HealthCritical, wire.UpgradeNeeded, refusal.Error(),
				"Install the version of this program that belongs to the server.")
		default:
			d.add(HealthCritical, condition, refusal.Error(),
				"Add this device again on the server's page of devices, and paste the command that it shows.")
		}
	} else if t := state.ServerTime; err == nil && t != nil && c.now().Sub(*t).Abs() > skewAllowed {
		d.add(HealthWarning, "clock_skew", fmt.Sprintf("this host's clock and the server's differ by %s",
			c.now().Sub(*t).Abs().Round(time.Second)), "Set the clock of this host.")
	}
	return d, nil
}

// Roots are the files and folders that the connector reads, as far as they are known.
func (c *Collector) Roots(ctx context.Context) ([]string, error) {
	found, err := c.Connectors.Find(ctx, c.Profile.ConnectorID)
	if err != nil {
		return nil, err
	}
	set := map[string]string{}
	for _, pair := range found.Command(nil, c.childVariable).Env {
		name, value, _ := strings.Cut(pair, "=")
		set[name] = value
	}
	var roots []string
	for _, p := range found.Manifest.ReadPaths() {
		if path := set[p.PathEnv]; path != "" && !slices.Contains(roots, path) {
			roots = append(roots, path)
		}
	}
	return roots, nil
}

// readable returns an error if a root cannot be read. Only an actual read can determine this.
func readable(root string) error {
	f, err := os.Open(root)
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.IsDir() {
		return err
	}
	if _, err = f.Readdirnames(1); errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}

// permissionAdvice returns the instruction that lets this program read a root.
func permissionAdvice(root string) string {
	if runtime.GOOS == "darwin" {
		return "Switch on Full Disk Access for pdpp-local-collector in System Settings, Privacy & Security."
	}
	return "Check that " + root + " exists and that this user can read it, or correct it in the profile."
}

// skewAllowed is how far two clocks may differ before it is worth a word.
const skewAllowed = 5 * time.Minute

// staleAfter is when a waiting upload stops being ordinary.
const staleAfter = 30 * time.Minute

func (d *Diagnosis) add(h Health, code, text, next string) {
	if h == HealthCritical || d.Status == HealthOK {
		d.Status = h
	}
	d.Findings = append(d.Findings, Finding{code, text, next})
}
