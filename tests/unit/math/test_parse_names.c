/* test_parse_names.c - what an answer is read as, calls, symbols and units: input and
 * tree.
 *
 * Each tree was checked by hand against the conventions of tree.h; where LaTeX and the
 * likely meaning differ, the row says which reading is taken.
 */
#include "check.h"
#include "tree_text.h"

static void calls(void)
{
    static const struct row rows[] = {
        {"(1, -2) + t(3,4)", "(sum (list '()' 1 -2) (product t (list '()' 3 4)))"},
        {"(f \\circ g)(x)", "(product (opaque \"circ\" f g) x)"},
        {"x(t)=e^{-t}\\cos t",
         "(relation = (call \"x\" t) (product (power e (negate t)) (function cos t)))"},
        {"f(x)", "(call \"f\" x)"},
        {"f(x+1)", "(call \"f\" (sum x 1))"},
        {"f(x,y)", "(call \"f\" x y)"},
        {"f(2) < f(1) < f(4)",
         "(relation < < (call \"f\" 2) (call \"f\" 1) (call \"f\" 4))"},
        {"f'(x)", "(call \"f'\" x)"},
        {"f^{-1}(x)", "(call \"f^{-1}\" x)"},
        {"I(0) e^{-\\frac{t}{R C}}",
         "(product (call \"I\" 0) (power e (negate (quotient t (product R C)))))"},
        {"\\ddot{\\theta}(t)", "(call \"\\ddot{\\theta}\" t)"},
        {"u(t)", "(call \"u\" t)"},
        {"P(A)", "(call \"P\" A)"},
        {"P(1+r)^t", "(product P (power (sum 1 r) t))"},
        {"P(A \\cap B)", "(call \"P\" (intersect A B))"},
        {"T(n+1,k)", "(call \"T\" (sum n 1) k)"},
        {"\\pi(x+1)", "(product pi (sum x 1))"},
        {"e(x)", "(product e x)"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void symbols(void)
{
    static const struct row rows[] = {
        {"\\varphi", "\\phi"},
        {"\\varepsilon", "\\epsilon"},
        {"α+β", "(sum \\alpha \\beta)"},
        {"μ", "\\mu"},
        {"f \\circ g", "(opaque \"circ\" f g)"},
        {"IV", "(product I V)"},
        {"x 2", "(product x 2)"},
        {"x", "x"},
        {"\\alpha", "\\alpha"},
        {"\\theta", "\\theta"},
        {"theta", "\\theta"},
        {"x_1", "x_1"},
        {"x_{12}", "x_12"},
        {"x₁+x₂", "(sum x_1 x_2)"},
        {"x_{1}^{2}", "(power x_1 2)"},
        {"x_1x_2", "(product x_1 x_2)"},
        {"V_{max}", "V_max"},
        {"V_{\\text{max}}", "V_max"},
        {"L_{\\odot}", "L_\\odot"},
        {"F_{n-k-1}", "F_n-k-1"},
        {"x'", "x'"},
        {"y''", "y''"},
        {"x^{\\prime}", "x'"},
        {"\\hat{x}", "\\hat{x}"},
        {"\\dot{x}_0", "\\dot{x}_0"},
        {"\\overline{AB}", "\\overline{AB}"},
        {"\\vec{v}", "v"},
        {"\\mathbf{v}_1", "v_1"},
        {"\\overrightarrow{AB}", "\\overrightarrow{AB}"},
        {"\\angle ABC", "\\angleABC"},
        {"\\triangle ABC", "\\triangleABC"},
        {"𝑥+1", "(sum x 1)"},
        {"\\hbar \\omega_{L}^{\\prime}", "(product \\hbar \\omega_L')"},
        {"\\zzz", "\\zzz"},
        {"abc", "(product a b c)"},
        {"xyz", "(product x y z)"},
        {"ABC", "(product A B C)"},
        {"4t", "(product 4 t)"},
        {"2s", "(product 2 s)"},
        {"3d", "(product 3 d)"},
        {"10m", "(product 10 m)"},
        {"2mg", "(product 2 m g)"},
        {"m+2", "(sum m 2)"},
        {"MR=SRMC", "(relation = (product M R) (product S R M C))"},
        {"\\text{base} \\times \\text{height}", "(product base height)"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void percent(void)
{
    static const struct row rows[] = {
        {"28\\%", "(quantity [percent] 28)"},
        {"8 \\%", "(quantity [percent] 8)"},
        {"62.5%", "(quantity [percent] 125/2)"},
        {"12 percent", "(quantity [percent] 12)"},
        {"50 \\text{ percent}", "(quantity [percent] 50)"},
        {"5\\% \\text{ increase}", "(quantity [percent] 5)"},
        {"100 \\cdot 10\\%", "(quantity [percent] (product 100 10))"},
        {"20\\% < p < 30\\%",
         "(relation < < (quantity [percent] 20) p (quantity [percent] 30))"},
        {"[10\\%, 20\\%]",
         "(list '[]' (quantity [percent] 10) (quantity [percent] 20))"},
        {"１０％", "(quantity [percent] 10)"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void money(void)
{
    static const struct row rows[] = {
        {"\\$2.50 per pound", "(quantity [usd] 5/2)"},
        {"\\$36", "(quantity [usd] 36)"},
        {"$36", "(quantity [usd] 36)"},
        {"\\$ 139", "(quantity [usd] 139)"},
        {"\\$18.90", "(quantity [usd] 189/10)"},
        {"\\$115,000", "(quantity [usd] 115000)"},
        {"\\$16,\\!386.16", "(quantity [usd] 409654/25)"},
        {"$1,000.99", "(quantity [usd] 100099/100)"},
        {"1,000.99$", "100099/100"},
        {"-\\$5", "(quantity [usd] -5)"},
        {"-$5", "(quantity [usd] -5)"},
        {"36 dollars", "(quantity [usd] 36)"},
        {"3.25\\text{ dollars}", "(quantity [usd] 13/4)"},
        {"75 cents", "(quantity [cent] 75)"},
        {"€5", "(quantity [eur] 5)"},
        {"5€", "(quantity [eur] 5)"},
        {"£3.50", "(quantity [gbp] 7/2)"},
        {"¥100", "(quantity [cny] 100)"},
        {"12元", "(quantity [cny] 12)"},
        {"\\$3 + \\$5", "(quantity [usd] (sum 3 5))"},
        {"\\$1.5 \\text{ million}", "(quantity [usd] (product 3/2 1000000))"},
        {"2.5 \\text{ million dollars}", "(quantity [usd] (product 5/2 1000000))"},
        {"1.8 billion", "(product 9/5 1000000000)"},
        {"6 dollars per hour", "(quantity [usd/h] 6)"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void lengths_areas_masses(void)
{
    static const struct row rows[] = {
        {"5 \\text{ ft } 6 \\text{ in}", "(quantity [ft] (sum 5 (product 6 1/12)))"},
        {"1.2 \\mathrm{~kg} \\cdot \\mathrm{m} / \\mathrm{s}",
         "(quantity [kg*m/s] 6/5)"},
        {"10 cm", "(quantity [cm] 10)"},
        {"10cm", "(quantity [cm] 10)"},
        {"10 m", "(quantity [m] 10)"},
        {"2\\text{ m}", "(quantity [m] 2)"},
        {"10\\text{m}", "(quantity [m] 10)"},
        {"x \\text{ cm}", "(quantity [cm] x)"},
        {"15\\mbox{ cm}^2", "(quantity [cm^2] 15)"},
        {"144 \\mbox{ m}^3", "(quantity [m^3] 144)"},
        {"50cm2", "(quantity [cm^2] 50)"},
        {"10 cm²", "(quantity [cm^2] 10)"},
        {"25 \\, \\text{km}", "(quantity [km] 25)"},
        {"5\\text{ inches}", "(quantity [in] 5)"},
        {"864 \\mbox{ inches}^2", "(quantity [in^2] 864)"},
        {"8\\sqrt{3} \\text { square inches}",
         "(quantity [in^2] (product 8 (root 3 2)))"},
        {"12\\text{ cubic feet}", "(quantity [ft^3] 12)"},
        {"20\\text{ sq. ft}", "(quantity [ft^2] 20)"},
        {"4\\text{ cm squared}", "(quantity [cm^2] 4)"},
        {"\\frac{3}{4}\\pi\\text{ inches}",
         "(quantity [in] (product (quotient 3 4) pi))"},
        {"3+4\\sqrt2 \\text{ cm}", "(quantity [cm] (sum 3 (product 4 (root 2 2))))"},
        {"\\frac{68}{3}\\text{ pounds}", "(quantity [lb] (quotient 68 3))"},
        {"12 \\text{ gm}", "(quantity [g] 12)"},
        {"5 gallons", "(quantity [gal] 5)"},
        {"3/4 mile", "(quantity [mi] (quotient 3 4))"},
        {"x = 5 \\text{ cm}", "(relation = x (quantity [cm] 5))"},
        {"(5\\text{ cm}, 6\\text{ cm})",
         "(list '()' (quantity [cm] 5) (quantity [cm] 6))"},
        {"5\\text{ cm}, 6\\text{ cm}", "(list (quantity [cm] 5) (quantity [cm] 6))"},
        {"125\\textnormal{ miles}", "(quantity [mi] 125)"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void rates_and_times(void)
{
    static const struct row rows[] = {
        {"3.0 \\times 10^8 \\mathrm{~m/s}",
         "(quantity [m/s] (product 3 (power 10 8)))"},
        {"2.998\\times10^{8}\\,\\mathrm{m\\,s^{-1}}",
         "(quantity [m*s^-1] (product 1499/500 (power 10 8)))"},
        {"2 \\text{ hours } 30 \\text{ minutes}",
         "(quantity [h] (sum 2 (product 30 1/60)))"},
        {"25 \\text{ mi/hr}", "(quantity [mi/h] 25)"},
        {"12 \\Omega", "(quantity [ohm] 12)"},
        {"4.5\\times 10^{33} \\text{ erg/s}",
         "(quantity [erg/s] (product 9/2 (power 10 33)))"},
        {"45\\text{ mph}", "(quantity [mph] 45)"},
        {"60 km/h", "(quantity [km/h] 60)"},
        {"9.8 m/s^2", "(quantity [m/s^2] 49/5)"},
        {"9.8\\text{ m/s}^2", "(quantity [m/s^2] 49/5)"},
        {"9.8 \\mathrm{~m} / \\mathrm{s}^{2}", "(quantity [m/s^2] 49/5)"},
        {"3 \\text{ miles per hour}", "(quantity [mi/h] 3)"},
        {"6.67 \\times 10^{-11} \\text{ N m}^2/\\text{kg}^2",
         "(quantity [N*m^2/kg^2] (product 667/100 (power 10 -11)))"},
        {"5 \\text{ kg}\\cdot\\text{m}^2", "(quantity [kg*m^2] 5)"},
        {"162\\text{ minutes}", "(quantity [min] 162)"},
        {"5 min", "(quantity [min] 5)"},
        {"3 hours", "(quantity [h] 3)"},
        {"1/2 hour", "(quantity [h] (quotient 1 2))"},
        {"2 days", "(quantity [day] 2)"},
        {"10weeks", "(quantity [week] 10)"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void counted_things(void)
{
    static const struct row rows[] = {
        {"17\\text{ any text}", "(quantity [any text] 17)"},
        {"18\\text{ ways.}", "(quantity [ways] 18)"},
        {"81\\text{ teachers}", "(quantity [teachers] 81)"},
        {"65 \\text{ children tickets }", "(quantity [children tickets] 65)"},
        {"10 square units", "(quantity [units] 10)"},
        {"45 \\text{ units}^2", "(quantity [units] 45)"},
        {"90\\text{ square\nunits}", "(quantity [units] 90)"},
        {"5 apples", "(quantity [apples] 5)"},
        {"5 apples and 3 oranges",
         "(list (quantity [apples] 5) (quantity [oranges] 3))"},
        {"3/4 cup", "(quantity [cup] (quotient 3 4))"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void angles_and_temperatures(void)
{
    static const struct row rows[] = {
        {"90^\\circ", "(quantity [degree] 90)"},
        {"90^{\\circ}", "(quantity [degree] 90)"},
        {"30°", "(quantity [degree] 30)"},
        {"30 degrees", "(quantity [degree] 30)"},
        {"\\frac{270}7\\text{ degrees}", "(quantity [degree] (quotient 270 7))"},
        {"45\\circ", "(quantity [degree] 45)"},
        {"x^\\circ", "(quantity [degree] x)"},
        {"(3x+5)^\\circ", "(quantity [degree] (sum (product 3 x) 5))"},
        {"50^\\circ+40^\\circ", "(quantity [degree] (sum 50 40))"},
        {"12^\\circ 30'", "(quantity [degree] (sum 12 (quotient 30 60)))"},
        {"30^\\circ,45^\\circ,105^\\circ", "(list (quantity [degree] 30) (quantity "
                                           "[degree] 45) (quantity [degree] 105))"},
        {"\\angle A = 45^\\circ", "(relation = \\angleA (quantity [degree] 45))"},
        {"2\\pi \\text{ radians}", "(quantity [rad] (product 2 pi))"},
        {"25^\\circ C", "(quantity [C] 25)"},
        {"72^{\\circ}F", "(quantity [F] 72)"},
        {"30^\\circ \\text{C}", "(quantity [C] 30)"},
        {"300\\text{ K}", "(quantity [K] 300)"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

static void bases(void)
{
    static const struct row rows[] = {
        {"the answer is 204_5", "(call \"base\" 54 5 204)"},
        {"204_5", "(call \"base\" 54 5 204)"},
        {"4210_{5}", "(call \"base\" 555 5 4210)"},
        {"-221_3", "(call \"base\" -25 3 -221)"},
        {"101_{\\text{two}}", "(call \"base\" 5 2 101)"},
        {"(101)_2", "(call \"base\" 5 2 101)"},
        {"0.0011_{2}", "(call \"base\" 3/16 2 11/10000)"},
        {"152A_{11}", "(call \"base\" 1968 11 (words \"152A\"))"},
        {"1B_{16}", "(call \"base\" 27 16 (words \"1B\"))"},
        {"x = 101_2", "(relation = x (call \"base\" 5 2 101))"},
        {"101_2+1", "(sum 5 1)"},
        {"29_5", "NULL"},
    };

    check_rows(rows, sizeof rows / sizeof rows[0]);
}

CASES(CASE(calls), CASE(symbols), CASE(percent), CASE(money),
      CASE(lengths_areas_masses), CASE(rates_and_times), CASE(counted_things),
      CASE(angles_and_temperatures), CASE(bases));
