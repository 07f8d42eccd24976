// Package contentline reads the lines of which calendars (iCalendar) and address cards
// (vCard) are made: NAME;PARAMETER=value:value, folded, nested between BEGIN and END.
//
// It reads what is met in the wild. A line that cannot be read spoils itself alone, what
// does not end is ended by what follows, and bytes that are no UTF-8 are read as
// Windows-1252. Nothing fails: whoever asks for a component gets those that are there.
package contentline
