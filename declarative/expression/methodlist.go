package expression

import "time"

var errInput = valueError("a template cannot change its input; copy it first")

// owned returns the list of a value that the template may change.
func owned(v Value) (*list, error) {
	l := v.ref.(*list)
	if !l.owned || l.form != plainList {
		return nil, errInput
	}
	return l, nil
}

var errCircle = valueError("a list or object cannot contain itself")

// reaches reports whether v is or contains the list or object.
func reaches(v Value, container any) bool {
	if v.ref == container {
		return true
	}
	switch v.kind {
	case Array:
		for _, item := range v.ref.(*list).items {
			if reaches(item, container) {
				return true
			}
		}
	case Object:
		m := v.ref.(*members)
		m.expand()
		for _, item := range m.values {
			if reaches(item, container) {
				return true
			}
		}
	}
	return false
}

func appendItem(of Value, c *call) (Value, error) {
	l, err := owned(of)
	if err != nil {
		return Value{}, err
	}
	if len(c.args) != 1 {
		return Value{}, typeError("append needs one item")
	}
	if reaches(c.args[0], l) {
		return Value{}, errCircle
	}
	l.items = append(l.items, c.args[0])
	return None, nil
}

func extendList(of Value, c *call) (Value, error) {
	l, err := owned(of)
	if err != nil {
		return Value{}, err
	}
	if len(c.args) != 1 {
		return Value{}, typeError("extend needs one list")
	}
	items, err := iterate(c.args[0])
	if err != nil {
		return Value{}, err
	}
	if reaches(listOf(items, plainList), l) {
		return Value{}, errCircle
	}
	l.items = append(l.items, items...)
	return None, c.frame.step(len(items))
}

func indexOf(of Value, c *call) (Value, error) {
	for i, item := range of.ref.(*list).items {
		if len(c.args) == 1 && equal(item, c.args[0]) {
			return IntValue(int64(i)), nil
		}
	}
	return Value{}, valueError("the item is not in the list")
}

func countOf(of Value, c *call) (Value, error) {
	n := 0
	for _, item := range of.ref.(*list).items {
		if len(c.args) == 1 && equal(item, c.args[0]) {
			n++
		}
	}
	return IntValue(int64(n)), nil
}

func getMember(of Value, c *call) (Value, error) {
	if len(c.args) == 0 || len(c.args) > 2 || len(c.names) > 0 {
		return Value{}, typeError("get needs a name and at most one other value")
	}
	otherwise := None
	if len(c.args) == 2 {
		otherwise = c.args[1]
	}
	return objectGet(of, c.args[0], otherwise)
}

func objectGet(of, key, otherwise Value) (Value, error) {
	if key.kind == String {
		if v, ok := of.ref.(*members).get(key.text); ok {
			return v, nil
		}
		return otherwise, nil
	}
	k, ok := encodeKey(key)
	if !ok {
		return Value{}, typeError("%s cannot be the name of a member", article(key.kind))
	}
	if v, ok := of.ref.(*members).find(k); ok {
		return v, nil
	}
	return otherwise, nil
}

func viewOf(f form) methodFunc {
	return func(of Value, c *call) (Value, error) {
		m := of.ref.(*members)
		if err := c.frame.step(m.size()); err != nil {
			return Value{}, err
		}
		items := make([]Value, len(m.keys))
		for i, key := range m.keys {
			switch f {
			case keysView:
				items[i] = decodeKey(key)
			case valuesView:
				items[i] = m.values[i]
			default:
				items[i] = listOf([]Value{decodeKey(key), m.values[i]}, tuple)
			}
		}
		return listOf(items, f), nil
	}
}

// copy returns a copy that the template may change.
func (m *members) copy() *members {
	m.expand()
	return &members{keys: append([]string(nil), m.keys...), values: append([]Value(nil), m.values...), owned: true}
}

func copyObject(of Value, _ *call) (Value, error) {
	return Value{kind: Object, ref: of.ref.(*members).copy()}, nil
}

func updateObject(of Value, c *call) (Value, error) {
	m := of.ref.(*members)
	if !m.owned {
		return Value{}, errInput
	}
	if len(c.args) > 1 {
		return Value{}, typeError("update needs one object")
	}
	if len(c.args) == 1 {
		if c.args[0].kind != Object {
			return Value{}, typeError("update needs an object, not %s", article(c.args[0].kind))
		}
		other := c.args[0].ref.(*members)
		if err := c.frame.step(other.size()); err != nil {
			return Value{}, err
		}
		if reaches(c.args[0], m) {
			return Value{}, errCircle
		}
		for i, key := range other.keys {
			m.put(key, other.values[i])
		}
	}
	for i, name := range c.names {
		if reaches(c.named[i], m) {
			return Value{}, errCircle
		}
		m.put(textKey(name), c.named[i])
	}
	return None, nil
}

func popMember(of Value, c *call) (Value, error) {
	m := of.ref.(*members)
	if !m.owned {
		return Value{}, errInput
	}
	if len(c.args) == 0 {
		return Value{}, typeError("pop needs a name")
	}
	key, _ := encodeKey(c.args[0])
	if v, ok := m.find(key); ok {
		m.remove(key)
		return v, nil
	}
	if len(c.args) == 2 {
		return c.args[1], nil
	}
	return Value{}, valueError("the object has no such member")
}

// attribute returns a member of a time or duration.
func attribute(of Value, name string) (Value, bool) {
	switch of.kind {
	case date, dateTime:
		m := of.ref.(*moment)
		parts := map[string]int{"year": m.time.Year(), "month": int(m.time.Month()), "day": m.time.Day()}
		if of.kind == dateTime {
			parts["hour"], parts["minute"], parts["second"] = m.time.Hour(), m.time.Minute(), m.time.Second()
			parts["microsecond"] = m.micros()
		}
		n, ok := parts[name]
		return IntValue(int64(n)), ok
	case span:
		d := of.ref.(*duration)
		days := floorDays(d.micros)
		rest := d.micros - days*microsPerDay
		parts := map[string]int64{"days": days, "seconds": rest / 1e6, "microseconds": rest % 1e6}
		if d.calendar {
			parts["years"], parts["months"] = d.years, d.months
		}
		n, ok := parts[name]
		return IntValue(n), ok
	}
	return Value{}, false
}

func formatTimeMethod(of Value, c *call) (Value, error) {
	layout, err := c.text(0, "format")
	if err != nil {
		return Value{}, err
	}
	text, err := strftime(of.ref.(*moment), of.kind == date, layout)
	return StringValue(text), err
}

func isoFormat(of Value, c *call) (Value, error) {
	m := of.ref.(*moment)
	if of.kind == date {
		return StringValue(m.day()), nil
	}
	separator := "T"
	if v, ok := c.argument(0, "sep"); ok {
		separator = v.text
	}
	precision, ok := c.argument(1, "timespec")
	if !ok || precision.text == "auto" {
		return StringValue(m.iso(separator)), nil
	}
	layouts := map[string]string{"hours": "15", "minutes": "15:04", "seconds": "15:04:05",
		"milliseconds": "15:04:05.000", "microseconds": "15:04:05.000000"}
	layout, ok := layouts[precision.text]
	if !ok {
		return Value{}, valueError("there is no precision %q", precision.text)
	}
	return StringValue(m.day() + separator + m.time.Format(layout) + m.offset(true)), nil
}

func timestampMethod(of Value, _ *call) (Value, error) {
	return FloatValue(of.ref.(*moment).seconds()), nil
}

func dateOf(of Value, _ *call) (Value, error) { return dateValue(of.ref.(*moment).time), nil }

func weekdayOf(first int64) methodFunc {
	return func(of Value, _ *call) (Value, error) {
		return IntValue(int64(of.ref.(*moment).time.Weekday()+6)%7 + first), nil
	}
}

func replaceTime(of Value, c *call) (Value, error) {
	m := of.ref.(*moment)
	fields := timeFields{year: m.time.Year(), month: int(m.time.Month()), day: m.time.Day(), hour: m.time.Hour(),
		minute: m.time.Minute(), second: m.time.Second(), micros: m.micros(), zoned: m.aware}
	places := map[string]*int{"year": &fields.year, "month": &fields.month, "day": &fields.day, "hour": &fields.hour,
		"minute": &fields.minute, "second": &fields.second, "microsecond": &fields.micros}
	for i, name := range c.names {
		place, ok := places[name]
		if !ok || !c.named[i].isInteger() {
			return Value{}, typeError("a time has no part %s that can be replaced", name)
		}
		*place = int(c.named[i].num)
	}
	_, fields.offset = m.time.Zone()
	if fields.month < 1 || fields.month > 12 || fields.micros < 0 || fields.micros > 999_999 || fields.hour < 0 ||
		fields.minute < 0 || fields.second < 0 {
		return Value{}, valueError("the calendar has no such time")
	}
	made, err := fields.checked(time.Time{}.String())
	if err != nil {
		return Value{}, err
	}
	made.zone = m.zone
	return Value{kind: of.kind, ref: made}, nil
}

func totalSeconds(of Value, _ *call) (Value, error) {
	return FloatValue(float64(of.ref.(*duration).micros) / 1e6), nil
}
