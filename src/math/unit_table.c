/* unit_table.c - the units, and the prefixes that may stand before them. */
#include <string.h>
#include <strings.h>

#include "math/units.h"

enum {
    WEAK = 1,   /* only inside \text, as are all single letters: 2mg is algebra */
    EXACT = 2,  /* the case counts */
    PREFIX = 4, /* of the SI may stand before it */
    TINY = 8    /* times 1e-28 */
};

#define LENGTH(n) [UNIT_LENGTH] = (n)
#define MASS(n) [UNIT_MASS] = (n)
#define TIME(n) [UNIT_TIME] = (n)
#define CURRENT(n) [UNIT_CURRENT] = (n)

static const struct unit_row table[] = {
    {"m meter meters metre metres 米", {LENGTH(1)}, 1, 1, PREFIX},
    {"cm centimeter centimeters centimetre centimetres 厘米 公分",
     {LENGTH(1)},
     1,
     100,
     0},
    {"mm millimeter millimeters millimetre millimetres 毫米", {LENGTH(1)}, 1, 1000, 0},
    {"dm decimeter decimeters 分米", {LENGTH(1)}, 1, 10, 0},
    {"km Km KM kilometer kilometers kilometre kilometres 千米 公里",
     {LENGTH(1)},
     1000,
     1,
     0},
    {"in inch inches", {LENGTH(1)}, 254, 10000, 0},
    {"ft foot feet", {LENGTH(1)}, 3048, 10000, 0},
    {"yd yard yards", {LENGTH(1)}, 9144, 10000, 0},
    {"mi mile miles", {LENGTH(1)}, 1609344, 1000, 0},
    {"ly lightyear lightyears", {LENGTH(1)}, 9460730472580800, 1, WEAK},
    {"pc parsec parsecs", {LENGTH(1)}, 30856775814913673, 1, WEAK | PREFIX},
    {"AU", {LENGTH(1)}, 149597870700, 1, WEAK | EXACT},
    {"acre acres", {LENGTH(2)}, 40468564224, 10000000, 0},
    {"ha hectare hectares 公顷", {LENGTH(2)}, 10000, 1, WEAK},
    {"L liter liters litre litres l 升", {LENGTH(3)}, 1, 1000, PREFIX},
    {"mL ml milliliter milliliters millilitre millilitres cc 毫升",
     {LENGTH(3)},
     1,
     1000000,
     0},
    {"gal gallon gallons", {LENGTH(3)}, 3785411784, 1000000000000, 0},
    {"g gram grams gm gms 克", {MASS(1)}, 1, 1000, PREFIX},
    {"kg Kg KG kilogram kilograms kgs kilo kilos 千克 公斤", {MASS(1)}, 1, 1, 0},
    {"lb lbs pound pounds", {MASS(1)}, 45359237, 100000000, 0},
    {"oz ounce ounces", {MASS(1)}, 45359237, 1600000000, 0},
    {"ton tons tonne tonnes 吨", {MASS(1)}, 1000, 1, 0},
    {"s sec secs second seconds 秒 秒钟", {TIME(1)}, 1, 1, PREFIX},
    {"min mins minute minutes 分钟", {TIME(1)}, 60, 1, 0},
    {"h hr hrs hour hours 小时", {TIME(1)}, 3600, 1, 0},
    {"day days 天 日", {TIME(1)}, 86400, 1, 0},
    {"week weeks wk wks 周 星期", {TIME(1)}, 604800, 1, 0},
    {"month months 个月 月", {TIME(1)}, 31557600, 12, 0},
    {"year years yr yrs 年", {TIME(1)}, 31557600, 1, 0},
    {"mph", {LENGTH(1), TIME(-1)}, 1609344, 3600000, 0},
    {"kph kmh kmph", {LENGTH(1), TIME(-1)}, 1000, 3600, 0},
    {"Hz hertz", {TIME(-1)}, 1, 1, PREFIX},
    {"rpm", {TIME(-1)}, 1, 60, 0},
    {"N newton newtons", {MASS(1), LENGTH(1), TIME(-2)}, 1, 1, EXACT | PREFIX},
    {"J joule joules", {MASS(1), LENGTH(2), TIME(-2)}, 1, 1, EXACT | PREFIX},
    {"erg ergs", {MASS(1), LENGTH(2), TIME(-2)}, 1, 10000000, 0},
    {"W watt watts", {MASS(1), LENGTH(2), TIME(-3)}, 1, 1, PREFIX},
    {"Pa pascal pascals", {MASS(1), LENGTH(-1), TIME(-2)}, 1, 1, WEAK | PREFIX},
    {"atm", {MASS(1), LENGTH(-1), TIME(-2)}, 101325, 1, WEAK},
    {"V volt volts", {MASS(1), LENGTH(2), TIME(-3), CURRENT(-1)}, 1, 1, PREFIX},
    {"ohm ohms \\Omega", {MASS(1), LENGTH(2), TIME(-3), CURRENT(-2)}, 1, 1, PREFIX},
    {"A amp amps ampere amperes", {CURRENT(1)}, 1, 1, EXACT | PREFIX},
    {"C coulomb coulombs", {CURRENT(1), TIME(1)}, 1, 1, EXACT | PREFIX},
    {"T tesla teslas", {MASS(1), TIME(-2), CURRENT(-1)}, 1, 1, EXACT | PREFIX},
    {"K kelvin kelvins", {[UNIT_TEMPERATURE] = 1}, 1, 1, EXACT | PREFIX},
    {"mol mole moles mols", {[UNIT_AMOUNT] = 1}, 1, 1, PREFIX},
    {"rad radian radians 弧度", {[UNIT_ANGLE] = 1}, 1, 1, 0},
    {"percent % percents 个百分点", {[UNIT_PERCENT] = 1}, 1, 100, 0},
    {"usd dollar dollars bucks 美元", {[UNIT_CURRENCY] = 1}, 1, 1, 0},
    {"cent cents ¢", {[UNIT_CURRENCY] = 1}, 1, 100, 0},
    {"eur euro euros 欧元", {[UNIT_CURRENCY] = 1}, 1, 1, 0},
    {"gbp", {[UNIT_CURRENCY] = 1}, 1, 1, 0},
    {"cny yuan rmb 元 人民币", {[UNIT_CURRENCY] = 1}, 1, 1, 0},
    {"jpy 日元 円", {[UNIT_CURRENCY] = 1}, 1, 1, 0},
    {"inr rupee rupees", {[UNIT_CURRENCY] = 1}, 1, 1, 0},
    {"arcmin arcminute arcminutes", {[UNIT_ANGLE] = 1}, 1, 60, 0},
    {"arcsec arcsecond arcseconds", {[UNIT_ANGLE] = 1}, 1, 3600, 0},
    {"eV electronvolt electronvolts",
     {MASS(1), LENGTH(2), TIME(-2)},
     1602176634,
     1,
     WEAK | PREFIX | TINY},
    {"cal calorie calories", {MASS(1), LENGTH(2), TIME(-2)}, 4184, 1000, PREFIX},
    {"Wh", {MASS(1), LENGTH(2), TIME(-2)}, 3600, 1, WEAK | PREFIX},
    {"hp horsepower", {MASS(1), LENGTH(2), TIME(-3)}, 746, 1, WEAK},
    {"dyn dyne dynes", {MASS(1), LENGTH(1), TIME(-2)}, 1, 100000, 0},
    {"bar bars", {MASS(1), LENGTH(-1), TIME(-2)}, 100000, 1, PREFIX},
    {"torr mmHg", {MASS(1), LENGTH(-1), TIME(-2)}, 133322368, 1000000, 0},
    {"psi", {MASS(1), LENGTH(-1), TIME(-2)}, 6894757293168, 1000000000, WEAK},
    {"F farad farads",
     {MASS(-1), LENGTH(-2), TIME(4), CURRENT(2)},
     1,
     1,
     EXACT | PREFIX},
    {"H henry henries henrys",
     {MASS(1), LENGTH(2), TIME(-2), CURRENT(-2)},
     1,
     1,
     EXACT | PREFIX},
    {"Wb weber webers", {MASS(1), LENGTH(2), TIME(-2), CURRENT(-1)}, 1, 1, PREFIX},
    {"gauss", {MASS(1), TIME(-2), CURRENT(-1)}, 1, 10000, 0},
    {"knot knots", {LENGTH(1), TIME(-1)}, 1852, 3600, 0},
    {"angstrom angstroms Å", {LENGTH(1)}, 1, 10000000000, 0},
    {"furlong furlongs", {LENGTH(1)}, 201168, 1000, 0},
    {"fathom fathoms", {LENGTH(1)}, 18288, 10000, 0},
    {"里", {LENGTH(1)}, 500, 1, 0},
    {"pt pint pints", {LENGTH(3)}, 473176473, 1000000000000, WEAK},
    {"qt quart quarts", {LENGTH(3)}, 946352946, 1000000000000, WEAK},
    {"cup cups", {LENGTH(3)}, 2365882365, 10000000000000, 0},
    {"tbsp tablespoon tablespoons", {LENGTH(3)}, 147867647813, 10000000000000000, 0},
    {"tsp teaspoon teaspoons", {LENGTH(3)}, 492892159375, 100000000000000000, 0},
    {"decade decades", {TIME(1)}, 315576000, 1, 0},
    {"century centuries 世纪", {TIME(1)}, 3155760000, 1, 0},
    {"bit bits", {[UNIT_DATA] = 1}, 1, 1, PREFIX},
    {"B byte bytes", {[UNIT_DATA] = 1}, 8, 1, WEAK | EXACT | PREFIX},
    {"KB", {[UNIT_DATA] = 1}, 8000, 1, WEAK},
    {"平方米", {LENGTH(2)}, 1, 1, 0},
    {"平方厘米", {LENGTH(2)}, 1, 10000, 0},
    {"平方千米 平方公里", {LENGTH(2)}, 1000000, 1, 0},
    {"立方米", {LENGTH(3)}, 1, 1, 0},
    {"立方厘米", {LENGTH(3)}, 1, 1000000, 0},
};

/* Of the SI, as a symbol and as a word; \mu is read by the parser. */
static const struct {
    char symbol;
    const char *word;
    int power;
} prefixes[] = {
    {'p', "pico", -12}, {'n', "nano", -9}, {'u', "micro", -6}, {'m', "milli", -3},
    {'c', "centi", -2}, {'d', "deci", -1}, {'k', "kilo", 3},   {'M', "mega", 6},
    {'G', "giga", 9},   {'T', "tera", 12},
};

/* The unit s[n] as the table has it; weak ones only where `text`. */
static const struct unit_row *find_row(const char *s, size_t n, bool text)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct unit_row *r = &table[i];

        if ((text || !(r->flags & WEAK)) && (text || n > 1) &&
            word_listed(r->names, s, n, r->flags & EXACT || n < 3))
            return r;
    }
    return NULL;
}

/* Symbols that no product of letters is mistaken for: kHz, MeV, kWh, MPa. */
static bool strong(const char *s, size_t n)
{
    return n == 3 && (!strncmp(s + 1, "Hz", 2) || !strncmp(s + 1, "eV", 2) ||
                      !strncmp(s + 1, "Wh", 2) || !strncmp(s + 1, "Pa", 2));
}

const struct unit_row *unit_prefixed(const char *s, size_t n)
{
    const struct unit_row *r = find_row(s, n, true);

    return r && r->flags & PREFIX && strcspn(r->names, " ") <= n ? r : NULL;
}

const struct unit_row *unit_find(const char *s, size_t n, bool text, int *power)
{
    const struct unit_row *r = find_row(s, n, text);

    *power = r && r->flags & TINY ? -28 : 0;
    for (size_t i = 0; !r && i < sizeof prefixes / sizeof prefixes[0]; i++) {
        size_t k = strlen(prefixes[i].word);
        bool word = n > k + 2 && !strncasecmp(s, prefixes[i].word, k);

        if (!word && (n < 2 || s[0] != prefixes[i].symbol || (!text && !strong(s, n))))
            continue;
        r = word     ? unit_prefixed(s + k, n - k)
            : n <= 4 ? unit_prefixed(s + 1, n - 1)
                     : NULL;
        *power = prefixes[i].power + (r && r->flags & TINY ? -28 : 0);
    }
    return r;
}
