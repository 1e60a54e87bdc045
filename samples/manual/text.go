package manual

const (
	title    = "HX-4 Acoustic Current Meter: Service Manual"
	subtitle = "Halden Instruments AS, document HX4-SM, edition 7"
)

// element is a part of the manual, in reading order. Exactly one field is set.
type element struct {
	heading   string
	paragraph string
	table     *table
}

// table is the rows of a table and the widths of its columns in points.
type table struct {
	widths []float64
	rows   [][]string // the first is the header
}

func h(text string) element { return element{heading: text} }
func p(text string) element { return element{paragraph: text} }
func t(widths []float64, rows ...[]string) element {
	return element{table: &table{widths: widths, rows: rows}}
}

// content returns the manual in reading order.
func content() []element {
	return []element{
		h("1 What the instrument does"),
		p("The HX-4 measures the speed and direction of water at a single depth. Three transducers send short acoustic pulses at 1.2 MHz, and the instrument compares how long a pulse travels with the current and against it. Because it counts time and not echoes, the HX-4 works in clear water where Doppler instruments find too few particles to listen to."),
		p("The measuring range is 0 to 3.5 metres per second. Between 0.02 and 2.0 metres per second the speed is accurate to 1 percent of the reading or 3 millimetres per second, whichever is larger. Direction comes from a fluxgate compass and is accurate to 2 degrees as long as the instrument is tilted by less than 15 degrees."),
		p("A sample is the mean of 64 pulses and takes 0.8 seconds. At the usual interval of ten minutes the two lithium packs last 14 months at 8 degrees Celsius. Records are kept in two memories that mirror each other, and the second is read only when a checksum of the first fails."),
		h("2 Installing it"),
		p("Mount the HX-4 in the gimbal frame with the transducer head pointing upstream at low water. Keep at least 40 centimetres of free water on every side of the head. Steel within one metre turns the compass: use the titanium shackles that come with the frame, and keep the anchor chain at least 1.5 metres below the instrument."),
		p("In fjords with a strong halocline, place the instrument either well above or well below the boundary between fresh and salt water. Inside the boundary the speed of sound changes along the acoustic path, and the readings scatter by up to 6 percent. The conductivity sensor reports this as warning W12."),
		p("Before lowering the mooring, wake the instrument with the magnetic key and wait for three green flashes. One green and one red flash means that the clock has not been set since the last battery change. Records taken with an unset clock cannot be repaired afterwards."),
		h("3 Calibration"),
		p("Calibration compares the HX-4 with the tow tank reference at Halden. The zero offset is measured first, in still water at 10 degrees Celsius for thirty minutes. Then the carriage tows the instrument at seven speeds between 0.05 and 2.5 metres per second, twice in each direction, and the gain error is the slope of the line through the differences."),
		p("An instrument passes when its zero offset is at most 4 millimetres per second and its gain error is at most 0.8 percent. One that fails is adjusted once and measured again in full. If it fails a second time, the transducer head is replaced, because a head that drifts after an adjustment goes on drifting."),
		p("How often an HX-4 must be calibrated depends on where it is used. The intervals in the following table are counted from the day on which the instrument enters the water, not from the date of the certificate."),
		t([]float64{150, 90, 110, 117},
			[]string{"Where it is used", "Interval", "Offset limit", "Who may do it"},
			[]string{"Open sea, below 200 m", "24 months", "4 mm/s", "Halden only"},
			[]string{"Fjord or coast", "18 months", "4 mm/s", "Halden only"},
			[]string{"River with sediment", "9 months", "6 mm/s", "Service partner"},
			[]string{"Hydropower intake", "6 months", "6 mm/s", "Service partner"},
			[]string{"Tow tank or laboratory", "36 months", "2 mm/s", "Halden only"},
		),
		p("A calibration is also due after any blow that bent the frame, after the head was replaced, and whenever two neighbouring instruments of one mooring disagree by more than 3 percent for a whole tidal cycle. The certificate names the technician, the tank temperature, both errors and the date on which the next calibration is due."),
		h("4 Maintenance in the field"),
		p("Growth on the transducers is the most common cause of bad data. A film of algae one millimetre thick lowers the reading by about 2 percent, and barnacles end the measurement altogether. Wipe the three faces with a soft cloth and fresh water at every visit. Never scrape them and never use solvents: the matching layer is epoxy and a scratch of half a millimetre needs a new head."),
		p("The zinc anode protects the titanium housing only where a steel frame is near. Replace it when less than half of its 180 grams is left. The main O-ring is replaced at every opening of the housing, without exception; grease it with the silicone grease of the service kit, as thinly as the finger can spread it."),
		p("Change both lithium packs together and within three minutes. The clock runs on a capacitor for that long. Press the magnetic key once after closing the housing and set the clock over the cable, and note the date and the serial number in the instrument log."),
		h("5 Fault codes"),
		p("The instrument reports faults over the cable and as flashes of the red light. Codes that begin with E stop the measurement; codes that begin with W do not."),
		t([]float64{52, 170, 245},
			[]string{"Code", "Meaning", "What to do"},
			[]string{"E01", "No pulse received on one path", "Clean the faces; if it stays, replace the head"},
			[]string{"E02", "Water inside the housing", "Recover at once, dry, return to Halden"},
			[]string{"E04", "Both memories disagree", "Read out both, then erase and run the self test"},
			[]string{"E07", "Battery below 6.1 V", "Replace both packs within 30 days"},
			[]string{"W10", "Tilt above 15 degrees", "Check the gimbal; direction is not usable"},
			[]string{"W12", "Speed of sound varies along path", "Move the instrument out of the halocline"},
			[]string{"W15", "Compass disturbed", "Look for steel within one metre"},
		),
		p("E02 is the only fault that cannot wait. Lithium packs that have met sea water give off gas, and the housing may be under pressure: point the head away from people, open the relief valve by half a turn and wait ten minutes before the housing is opened. The handbook describes who must be told."),
		h("6 Transport and storage"),
		p("Lithium packs travel outside the instrument, in the yellow box, with the declaration for dangerous goods of class 9. An instrument without its packs is not dangerous goods. Store the HX-4 dry, between minus 10 and plus 40 degrees Celsius, with the transducer cap on. After more than twelve months of storage run the self test and check the zero offset in a bucket of still water before the instrument is used."),
		h("7 Specifications"),
		t([]float64{200, 267},
			[]string{"Property", "Value"},
			[]string{"Measuring range", "0 to 3.5 m/s"},
			[]string{"Greatest depth", "1,500 m"},
			[]string{"Acoustic frequency", "1.2 MHz"},
			[]string{"Power", "Two lithium packs, 7.2 V, 19 Ah each"},
			[]string{"Weight in air, in water", "5.4 kg, 1.9 kg"},
			[]string{"Memory", "Two times 64 MB, mirrored"},
			[]string{"Interface", "RS-485, 115,200 baud"},
		),
	}
}
