package applehealth

import (
	"math"
	"strconv"
	"strings"

	"pdpp/connectorkit"
)

// workout is one that is still open: newer exports say in its parts what older ones say in
// itself.
type workout struct {
	ID       string   `json:"id"`
	Activity string   `json:"workout_activity_type,omitzero"`
	Duration *float64 `json:"duration_minutes,omitzero"`
	Energy   *float64 `json:"total_energy_burned_kcal,omitzero"`
	Distance *float64 `json:"total_distance_km,omitzero"`
	Source   string   `json:"source_name,omitzero"`
	Start    string   `json:"start_date"`
	End      string   `json:"end_date,omitzero"`
	key      [][]byte
}

func workoutOf(e *element) *workout {
	w := &workout{
		Activity: e.text("workoutActivityType"), Source: e.text("sourceName"), Start: timeOf(e.raw("startDate")), End: timeOf(e.raw("endDate")),
		Duration: measure(e, "duration", "durationUnit", minutes), Energy: measure(e, "totalEnergyBurned", "totalEnergyBurnedUnit", kilocalories),
		Distance: measure(e, "totalDistance", "totalDistanceUnit", kilometres),
	}
	for _, name := range []string{"workoutActivityType", "sourceName", "startDate", "endDate", "duration"} {
		w.key = append(w.key, append([]byte(nil), e.raw(name)...))
	}
	return w
}

// statistics takes a sum over the workout.
func (w *workout) statistics(e *element) {
	switch kind := e.text("type"); {
	case kind == "HKQuantityTypeIdentifierActiveEnergyBurned" && w.Energy == nil:
		w.Energy = measure(e, "sum", "unit", kilocalories)
	case strings.HasPrefix(kind, "HKQuantityTypeIdentifierDistance") && w.Distance == nil:
		w.Distance = measure(e, "sum", "unit", kilometres)
	}
}

// closeWorkout brings the workout that is open.
func (h *health) closeWorkout() {
	w := h.workout
	if h.workout = nil; w == nil {
		return
	}
	h.at.Count++
	if w.Start == "" {
		h.m.Row(h.at.Count-1, 0)
		return
	}
	w.ID = string(h.appendID(nil, w.key...))
	h.m.Emit("workouts", connectorkit.Upsert(w))
}

var (
	minutes      = map[string]float64{"": 1, "min": 1, "s": 1.0 / 60, "hr": 60, "h": 60}
	kilocalories = map[string]float64{"": 1, "kcal": 1, "Cal": 1, "cal": 0.001, "kJ": 1 / 4.184, "J": 1 / 4184.0}
	kilometres   = map[string]float64{"": 1, "km": 1, "m": 0.001, "mi": 1.609344, "yd": 0.0009144, "ft": 0.0003048, "cm": 0.00001}
)

// measure reads a number in the unit that records have; nil when it is none, or of a unit that
// is not known.
func measure(e *element, value, unit string, units map[string]float64) *float64 {
	n, err := strconv.ParseFloat(e.text(value), 64)
	factor, known := units[e.text(unit)]
	if err != nil || !known || math.IsInf(n, 0) || math.IsNaN(n) {
		return nil
	}
	n *= factor
	return &n
}
