package admin

import "github.com/pdpp-go/pdpp/internal/owner/words"

// onDevice reports whether a device feeds the connection, whatever is installed here.
func (row scheduleRow) onDevice() bool {
	return row.SourceKind == "local_device" || row.Connector != nil && row.Connector.Device
}

// canSchedule reports whether a form makes sense: a device keeps its own rhythm, and
// some connectors are for asking only. One that has a schedule may always change it.
func (row scheduleRow) canSchedule() bool {
	if row.Plan != nil {
		return true
	}
	return row.Connector != nil && !row.onDevice() && row.Connector.Refresh.Mode == "automatic"
}

func (row scheduleRow) rhythmWords() string {
	switch {
	case row.Plan != nil && row.Plan.Enabled:
		return words.RunInterval(row.Plan.IntervalSeconds)
	case row.Plan != nil:
		return "Paused"
	case row.onDevice():
		return "In the rhythm of its device"
	default:
		return "When you ask"
	}
}

// policyWords returns what limits the schedule.
func (row scheduleRow) policyWords() string {
	switch {
	case row.onDevice():
		return "The computer that holds the data decides when it reports."
	case row.Connector == nil:
		return "Its connector is not installed any more."
	case row.Connector.Refresh.Mode != "automatic":
		return row.Connector.Refresh.Rationale
	case row.Connector.Refresh.MinimumSeconds > 0:
		return "Shortest time between two runs: " + words.ShortSpan(row.Connector.Refresh.MinimumSeconds) +
			", so that the source is not asked too often."
	default:
		return ""
	}
}
