package demo

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"time"
)

// demoEvent is one record of the invented life.
type demoEvent struct {
	Stream, Key string
	At          time.Time
	Data        map[string]any
}

// sourceData returns the data of a source for one day. A day is the same on every machine, for the source and for the
// history.
var sourceData = map[string]func(*inventedDay){
	"lantern": mailMessages, "ferry": chatMessages, "atelier": questionsOf, "copper": moneyTransfers,
	"stride": healthData, "darkroom": picturesOf, "wayside": placesOf, "almanac": calendarEvents,
}

// inventedDay is one day of a source while it is being invented.
type inventedDay struct {
	*rand.Rand
	source string
	date   time.Time // midnight
	all    []demoEvent
}

// dayOf invents a day of a source.
func dayOf(source string, date time.Time) []demoEvent {
	date = date.UTC().Truncate(24 * time.Hour)
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(source)) // never fails
	d := &inventedDay{Rand: rand.New(rand.NewPCG(seed.Sum64(), uint64(date.Unix()))), source: source, date: date}
	sourceData[source](d)
	return d.all
}

func pick[T any](d *inventedDay, from ...T) T { return from[d.IntN(len(from))] }

// at is a moment of the day, by the hour and up to so many minutes later.
func (d *inventedDay) at(hour, within int) time.Time {
	return d.date.Add(time.Duration(hour)*time.Hour + time.Duration(d.IntN(max(within, 1)*60))*time.Second)
}

func (d *inventedDay) weekend() bool {
	return d.date.Weekday() == time.Saturday || d.date.Weekday() == time.Sunday
}

// away is the fortnight by the sea, and unworn the days on which the watch lay in a drawer.
func (d *inventedDay) away() bool {
	return d.date.Month() == time.July && d.date.Day() >= 6 && d.date.Day() <= 19
}
func (d *inventedDay) unworn() bool {
	return d.date.Month() == time.February && d.date.Day() >= 9 && d.date.Day() <= 20
}

func (d *inventedDay) happened(stream, timeField string, at time.Time, data map[string]any) string {
	key := fmt.Sprintf("%s-%s-%d", stream, d.date.Format("20060102"), len(d.all)+1)
	d.keep(stream, key, timeField, at, data)
	return key
}

func (d *inventedDay) keep(stream, key, timeField string, at time.Time, data map[string]any) {
	data["id"], data[timeField] = key, at.Format(time.RFC3339)
	d.all = append(d.all, demoEvent{Stream: stream, Key: key, At: at, Data: data})
}

// photos is the stream of pictures.
const photos = "photos"

const owner = "Ada Whitlock"

var friends = []string{"Ida Lund", "Nadia Ferrante", "Tomas Brekke", "Mira Oakes", "Jonas Veil", "Papa"}

func mailMessages(d *inventedDay) {
	type letter struct{ from, subject, body string }
	letters := []letter{
		{"Rowing Club Mole", "Training on Thursday", "We meet at the lower landing at six. Bring the long oars."},
		{"Town Library", "A book waits for you", "The book that you reserved is at the desk for ten days."},
		{"Choir of St Ives", "Notes for the next concert", "Attached are the notes. Please sing the second part slowly."},
		{"Nadia Ferrante", "The garden shed", "The roof holds. The door still needs a hinge; I have one that fits."},
		{"Copper bank", "Your statement", "Your statement of the month is ready. Sign in to read it."},
		{"Lowmoor Water", "Reading of the meter", "Please tell us the number on your meter before the end of the week."},
		{"Ida Lund", "The boat", "She floats. Come and see her when the wind has turned."},
		{"Night train office", "Your ticket", "Coach 7, seat 42. The train leaves from platform three."},
		{"Mira Oakes", "Minutes of the meeting", "We agreed on the lamps and put the fence off until spring."},
	}
	for range 1 + d.IntN(4) {
		l := pick(d, letters...)
		at := d.at(7+d.IntN(13), 60)
		thread := fmt.Sprintf("%s, %s", l.from, d.date.Format("January 2006"))
		d.happened("mails", "sent_at", at, map[string]any{"subject": l.subject, "body": l.body, "sender": l.from,
			"from_me": false, "thread": thread})
		if d.IntN(5) == 0 {
			d.happened("mails", "sent_at", at.Add(time.Duration(5+d.IntN(50))*time.Minute), map[string]any{
				"subject": "Re: " + l.subject, "body": pick(d, "Thank you, I will be there.", "That suits me well.",
					"I will bring it along on Saturday."), "sender": owner, "from_me": true, "thread": thread})
		}
	}
}

func chatMessages(d *inventedDay) {
	lines := []string{
		"Are you at the landing already?", "Five minutes, the bridge is up.", "I kept you some soup.", "Look at this sky.",
		"It is raining here.", "Ha, of course it is.",
		"Can you bring the blue rope?", "Which one, the long one?", "The short one. The long one is on the boat.",
		"Good night.", "Did the library call?", "They did, on Monday.",
		"I found the key, it was in the coat.", "We should go back to Saltwick.", "In June, when the ferries run again.",
		"Deal.", "How is the knee?", "Better. I walked to the mill and back.",
	}
	chats := 1 + d.IntN(2)
	for range chats {
		who := d.IntN(len(friends))
		chat := fmt.Sprintf("chat-%d", who+1)
		d.keep("chats", chat, "began_at", time.Date(2023, time.Month(1+who), 4+who, 18, 0, 0, 0, time.UTC),
			map[string]any{"title": friends[who]})
		n := 2 + d.IntN(7)
		if d.IntN(9) == 0 || d.away() && d.IntN(3) == 0 {
			n = 24 + d.IntN(22) // an evening of it
		}
		at := d.at(8+d.IntN(12), 50)
		for range n {
			mine := d.IntN(2) == 0
			author := friends[who]
			if mine {
				author = owner
			}
			d.happened("messages", "sent_at", at, map[string]any{"chat_id": chat, "author": author, "from_me": mine,
				"text": pick(d, lines...)})
			at = at.Add(time.Duration(20+d.IntN(240)) * time.Second)
		}
	}
}

// questionsOf are talks with the assistant, and what it proposed to change in small programs.
func questionsOf(d *inventedDay) {
	if d.date.Weekday() == time.Wednesday {
		type change struct{ project, title, text string }
		c := pick(d,
			change{"ada/tide-clock", "Show the height between two tides",
				"The hand stands still between high and low water. It follows half a cosine now."},
			change{"ada/tide-clock", "Keep the time zone of the harbour", "Summer time moved every tide by an hour."},
			change{"ada/bookings", "Count a returned booking once",
				"A booking that was returned was counted twice, with both signs."},
			change{"ada/rowing-log", "Read logs without a distance",
				"Old entries have none; they are counted as outings all the same."},
		)
		d.happened("changes", "opened_at", d.at(16, 50),
			map[string]any{"project": c.project, "title": c.title, "text": c.text,
				"state": pick(d, "merged", "merged", "open", "closed")})
	}
	if d.IntN(5) > 1 {
		return
	}
	type talk struct {
		title string
		texts []string
	}
	t := pick(d,
		talk{"Varnish for an old boat", []string{"Which varnish holds on oak that was oiled before?",
			"None holds well on oil. Clean the wood with spirit twice, let it dry for two days, then use a thin first coat.",
			"And how many coats in all?", "Five thin ones last longer than three thick ones. Sand lightly between them."}},
		talk{"A route along the coast", []string{"Plan three days on foot from Saltwick to Lowmoor, at most 18 km a day.",
			"Day one ends at the old lighthouse, 16 km. Day two at Fernhythe, 17 km. Day three is short, 11 km, and leaves " +
				"time for the ferry.", "Is there a place to sleep at the lighthouse?", "Four beds, from May to September. Ask a " +
				"week before."}},
		talk{"A sum that does not add up", []string{"My list of bookings is off by 12.40 against the statement.",
			"Look for a booking of 6.20 that is counted twice with the wrong sign: the difference is then twice the amount.",
			"Found it. The library fee."}},
		talk{"Soup for eight", []string{"What do I need for a fish soup for eight people?",
			"Two kilos of mixed white fish, a fennel, four carrots, a litre and a half of stock, and saffron if there " +
				"is some."}},
	)
	at := d.at(9+d.IntN(11), 55)
	id := "talk-" + d.date.Format("20060102")
	d.keep("conversations", id, "began_at", at, map[string]any{"title": t.title})
	for i, text := range t.texts {
		speaker := "user"
		if i%2 == 1 {
			speaker = "assistant"
		}
		d.happened("turns", "said_at", at, map[string]any{"conversation_id": id, "speaker": speaker, "text": text})
		at = at.Add(time.Duration(15+d.IntN(90)) * time.Second)
	}
}

// shopCategories has the category of what each shop sells.
var shopCategories = map[string]string{"Fern Grocers": "Food", "Bridge Bakery": "Food", "Copper Kettle": "Food",
	"Mole Books": "Leisure", "Night train office": "Travel"}

func moneyTransfers(d *inventedDay) {
	book := func(hour int, payee, category string, amount float64) {
		d.happened("bookings", "booked_at", d.at(hour, 55),
			map[string]any{"payee": payee, "category": category, "amount": math.Round(amount*100) / 100, "currency": "EUR"})
	}
	switch d.date.Day() {
	case 1:
		book(6, "Mill Lane housing", "Home", -742)
	case 3:
		book(6, "Lowmoor Water", "Home", -31.5)
	case 14:
		book(12, "Harbour", "Food", -24.6)
	case 21:
		book(12, "Harbour", "Food", -17.85)
	case 27:
		book(5, "Harbour Works", "Salary", 2914.37)
	}
	for range d.IntN(3) {
		if d.away() {
			book(9+d.IntN(10), pick(d, "Saltwick Ferry", "Lighthouse Inn", "Bay Bakery"), "Holiday", -6-60*d.Float64())
			continue
		}
		payee := pick(d, "Fern Grocers", "Bridge Bakery", "Mole Books", "Night train office", "Copper Kettle")
		book(9+d.IntN(10), payee, shopCategories[payee], -3-45*d.Float64())
	}
}

func healthData(d *inventedDay) {
	if d.unworn() {
		return
	}
	measure := func(hour int, series, unit string, value float64) {
		d.happened("measurements", "measured_at", d.at(hour, 40),
			map[string]any{"series": series, "unit": unit, "value": math.Round(value*10) / 10})
	}
	season := math.Sin(2 * math.Pi * float64(d.date.YearDay()-80) / 365)
	steps := 6400 + 1900*season + 2600*d.NormFloat64()/2
	if d.away() {
		steps += 6500
	}
	measure(7, "Sleep", "h", 7.1+0.7*d.NormFloat64())
	measure(7, "Resting pulse", "bpm", 58-2*season+1.6*d.NormFloat64())
	measure(23, "Steps", "steps", math.Round(max(steps, 900)))
	if d.date.Weekday() == time.Monday {
		measure(8, "Weight", "kg", 68.4-1.2*season+0.4*d.NormFloat64())
	}
	if d.IntN(3) == 0 {
		at := d.at(17, 50)
		what, km := pick(d, "Run along the river", "Ride to the mill", "Swim at the lower landing", "Rowing"), 3+9*d.Float64()
		d.happened("workouts", "began_at", at, map[string]any{"title": what, "kilometres": math.Round(km*10) / 10,
			"ended_at": at.Add(time.Duration(25+d.IntN(60)) * time.Minute).Format(time.RFC3339)})
	}
}

func picturesOf(d *inventedDay) {
	n := 0
	switch {
	case d.away():
		n = 3 + d.IntN(5)
	case d.weekend():
		n = d.IntN(3)
	case d.IntN(5) == 0:
		n = 1
	}
	for range n {
		where := pick(d, "Mill Lane", "Lower landing", "Fernhythe", "Bridge")
		if d.away() {
			where = pick(d, "Saltwick Bay", "Old lighthouse", "Ferry deck")
		}
		at := d.at(9+d.IntN(10), 59)
		d.happened(photos, "taken_at", at, map[string]any{"name": at.Format("20060102-1504") + ".png", "place": where,
			"media_type": "image/png"})
	}
}

func placesOf(d *inventedDay) {
	visit := func(place string, lat, lon float64, from, to int) {
		at := d.at(from, 30)
		d.happened("visits", "arrived_at", at, map[string]any{"place": place, "latitude": lat, "longitude": lon,
			"left_at": d.at(to, 30).Format(time.RFC3339)})
	}
	switch {
	case d.away():
		visit("Lighthouse Inn", 54.4862, -0.5931, 0, 9)
		visit(pick(d, "Saltwick Bay", "Ferry landing", "Bay Bakery"), 54.4844, -0.5872, 10, 16)
		visit("Lighthouse Inn", 54.4862, -0.5931, 18, 23)
	case d.weekend():
		visit("Home", 54.9712, -1.6130, 0, 10)
		visit(pick(d, "Lower landing", "Fern Grocers", "Mole Books"), 54.9680, -1.5984, 11, 15)
	default:
		visit("Home", 54.9712, -1.6130, 0, 7)
		visit("Harbour Works", 54.9651, -1.5722, 8, 16)
		if d.IntN(3) == 0 {
			visit(pick(d, "Town Library", "St Ives hall", "Lower landing"), 54.9733, -1.6101, 17, 20)
		}
	}
}

func calendarEvents(d *inventedDay) {
	plan := func(hour, minutes int, title, place string) {
		at := d.date.Add(time.Duration(hour) * time.Hour)
		d.happened("events", "begins_at", at,
			map[string]any{"title": title, "place": place,
				"ends_at": at.Add(time.Duration(minutes) * time.Minute).Format(time.RFC3339)})
	}
	switch {
	case d.away():
		if d.date.Day() == 6 || d.date.Day() == 19 {
			plan(8, 300, "Night train", "Platform three")
		}
	case d.date.Weekday() == time.Monday:
		plan(9, 45, "Week in the harbour office", "Harbour Works")
	case d.date.Weekday() == time.Thursday:
		plan(18, 120, "Rowing", "Lower landing")
	case d.date.Weekday() == time.Tuesday && d.IntN(2) == 0:
		plan(19, 90, "Choir", "St Ives hall")
	case d.IntN(6) == 0:
		plan(12+d.IntN(7), 60, pick(d, "Dentist", "Lunch with Ida", "Call with Papa", "Boat inspection"),
			pick(d, "Bridge Street 4", "Copper Kettle", ""))
	}
	if d.IntN(8) == 0 {
		title := pick(d, "What the boat needs", "Books to ask for", "For the concert", "Things to tell Papa")
		d.happened("notes", "written_at", d.at(20, 59),
			map[string]any{"title": title,
				"text": pick(d, "Two hinges, oak plugs, the thin varnish.",
					"The one about tides, and the other one by the same author.", "Black shoes, the second part, water.",
					"The knee, the key in the coat, the soup.")})
	}
}
