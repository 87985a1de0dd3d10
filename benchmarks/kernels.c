/* The three hot loops of a world step in plain C, the way one would write them without thinking of vectors: what Agora is compared with.

   social_force  goal, all pairs, wall and semi-implicit Euler, as agora.pedestrians.models.helbing and the engine compute them
   evacuation    the same with bodies in contact, as agora.pedestrians.models.evacuation, one substep of it
   scan          360 beams against a grid map and the pedestrians' discs

   Built by plain_c.py with -ffast-math, so that gcc vectorises the exponential of the pair loop: the fastest form it makes of it.
   W worlds of P pedestrians, arrays (W, P) of float32; maps are SIDE x SIDE cells in one array, walled in. */
#include <math.h>

enum { SIDE = 400, BEAMS = 360 };
static const float CELL = 0.05f, REACH = 10.0f, STEP = 0.1f;
static const float RELAXATION = 0.5f, REPULSION = 3.0f, LENGTH = 0.5f, ANISOTROPY = 0.3f;
static const float WALL_REPULSION = 5.0f, WALL_LENGTH = 0.2f, TOP_SPEED = 1.3f;
static const float PANIC = 2000 / 80.0f, PANIC_LENGTH = 0.08f, BODY = 1.2e5f / 80, FRICTION = 2.4e5f / 80;
static const float PANIC_STEP = 0.0025f, PANIC_SPEED = 10;
static const float HALF_DIAGONAL = 0.70711f, TWO_PI = 6.2831853f;

typedef struct {
    float distance, x, y;
} Wall;

/* Distance to the nearest wall and the gradient there, bilinear between the centres of cells. */
static inline Wall wall_at(const float *restrict field, float x, float y)
{
    const float last = SIDE - 1.001f;
    float u = fminf(fmaxf(x / CELL - 0.5f, 0.0f), last), v = fminf(fmaxf(y / CELL - 0.5f, 0.0f), last);
    int column = (int)u, row = (int)v;
    float a = u - (float)column, b = v - (float)row;
    const float *lower = field + row * SIDE + column, *upper = lower + SIDE;
    float below = lower[0] + a * (lower[1] - lower[0]), above = upper[0] + a * (upper[1] - upper[0]);
    float left = upper[0] - lower[0], right = upper[1] - lower[1];
    float gx = (lower[1] - lower[0]) * (1 - b) + (upper[1] - upper[0]) * b, gy = left * (1 - a) + right * a;
    float norm = 1.0f / sqrtf(gx * gx + gy * gy + 1e-9f);
    return (Wall){below + b * (above - below), gx * norm, gy * norm};
}

void social_force(int worlds, int people, float *restrict x, float *restrict y, float *restrict vx, float *restrict vy,
                  const float *restrict goal_x, const float *restrict goal_y, const float *restrict radius,
                  const float *restrict speed, const float *restrict fields, const int *restrict map, float *restrict ax,
                  float *restrict ay)
{
    for (int w = 0; w < worlds; w++) {
        const float *field = fields + (long)map[w] * SIDE * SIDE;
        const long o = (long)w * people;
        for (int i = 0; i < people; i++) {
            const float xi = x[o + i], yi = y[o + i], ri = radius[o + i];
            float ex = goal_x[o + i] - xi, ey = goal_y[o + i] - yi, fx = 0, fy = 0;
            const float inverse = 1.0f / sqrtf(ex * ex + ey * ey + 1e-12f);
            ex *= inverse, ey *= inverse;
            for (int j = 0; j < people; j++) {
                const float dx = xi - x[o + j], dy = yi - y[o + j], d2 = dx * dx + dy * dy + 1e-6f;
                const float over = 1.0f / sqrtf(d2), nx = dx * over, ny = dy * over;
                const float push = REPULSION * expf((ri + radius[o + j] - d2 * over) / LENGTH);
                const float weight = ANISOTROPY + (1 - ANISOTROPY) * 0.5f * (1 - nx * ex - ny * ey);
                fx += push * weight * nx;
                fy += push * weight * ny;
            }
            const Wall wall = wall_at(field, xi, yi);
            const float push = WALL_REPULSION * expf((ri - wall.distance) / WALL_LENGTH);
            ax[o + i] = (speed[o + i] * ex - vx[o + i]) / RELAXATION + fx + push * wall.x;
            ay[o + i] = (speed[o + i] * ey - vy[o + i]) / RELAXATION + fy + push * wall.y;
        }
        for (long i = o; i < o + people; i++) {
            float u = vx[i] + ax[i] * STEP, v = vy[i] + ay[i] * STEP;
            const float now = sqrtf(u * u + v * v + 1e-12f), most = speed[i] * TOP_SPEED, share = now > most ? most / now : 1.0f;
            vx[i] = u * share, vy[i] = v * share;
            x[i] += vx[i] * STEP, y[i] += vy[i] * STEP;
        }
    }
}

typedef struct {
    float x, y;
} Force;

/* Body and sliding friction of two discs, overlap m inside each other, (ux, uy) the other's velocity relative to this one's. The
   exponent is cut, as Agora's is, because numbers below 1e-38 take ten times as long. */
static inline Force contact(float nx, float ny, float overlap, float ux, float uy)
{
    const float pressed = fmaxf(overlap, 0.0f), rub = fminf(FRICTION * pressed, 0.25f / PANIC_STEP);
    const float push = PANIC * expf(fmaxf(overlap / PANIC_LENGTH, -30.0f)) + BODY * pressed - rub * (ux * nx + uy * ny);
    return (Force){push * nx + rub * ux, push * ny + rub * uy};
}

void evacuation(int worlds, int people, float *restrict x, float *restrict y, float *restrict vx, float *restrict vy,
                const float *restrict goal_x, const float *restrict goal_y, const float *restrict radius,
                const float *restrict speed, const float *restrict fields, const int *restrict map, float *restrict ax,
                float *restrict ay)
{
    const float step = PANIC_STEP;
    for (int w = 0; w < worlds; w++) {
        const float *field = fields + (long)map[w] * SIDE * SIDE;
        const long o = (long)w * people;
        for (int i = 0; i < people; i++) {
            const float xi = x[o + i], yi = y[o + i], ui = vx[o + i], vi = vy[o + i], ri = radius[o + i];
            float fx = 0, fy = 0;
            for (int j = 0; j < people; j++) {
                const float dx = xi - x[o + j], dy = yi - y[o + j], d = sqrtf(dx * dx + dy * dy + 1e-12f), over = 1.0f / d;
                const Force one = contact(dx * over, dy * over, ri + radius[o + j] - d, vx[o + j] - ui, vy[o + j] - vi);
                fx += one.x, fy += one.y;
            }
            const Wall wall = wall_at(field, xi, yi);
            const Force one = contact(wall.x, wall.y, ri - wall.distance, -ui, -vi);
            float ex = goal_x[o + i] - xi, ey = goal_y[o + i] - yi;
            const float inverse = 1.0f / sqrtf(ex * ex + ey * ey + 1e-12f);
            ax[o + i] = (speed[o + i] * ex * inverse - ui) / RELAXATION + fx + one.x;
            ay[o + i] = (speed[o + i] * ey * inverse - vi) / RELAXATION + fy + one.y;
        }
        for (long i = o; i < o + people; i++) {
            float u = vx[i] + ax[i] * step, v = vy[i] + ay[i] * step;
            const float now = sqrtf(u * u + v * v + 1e-12f), most = speed[i] * PANIC_SPEED, share = now > most ? most / now : 1.0f;
            vx[i] = u * share, vy[i] = v * share;
            x[i] += vx[i] * step, y[i] += vy[i] * step;
        }
    }
}

/* Distance along a beam to the first occupied cell: leaps over what the field shows to be free, walks cell by cell near walls. */
static inline float first_wall(const float *restrict field, float x, float y, float dx, float dy)
{
    const float gx = x / CELL, gy = y / CELL, most = REACH / CELL;
    const float along_x = fabsf(dx) > 1e-9f ? 1 / fabsf(dx) : 1e9f, along_y = fabsf(dy) > 1e-9f ? 1 / fabsf(dy) : 1e9f;
    const int right = dx > 0, up = dy > 0, step_x = right ? 1 : -1, step_y = up ? 1 : -1;
    float t = 0;
    for (;;) {
        const float px = gx + dx * t, py = gy + dy * t;
        int column = (int)px, row = (int)py;
        float free = field[row * SIDE + column] / CELL;
        const float leap = free - 2 * HALF_DIAGONAL;
        if (leap > 1.0f) {
            t += leap;
            if (t >= most)
                return REACH;
            continue;
        }
        if (free < 0.5f)
            return t * CELL;
        float tx = t + (right ? (float)column + 1 - px : px - (float)column) * along_x;
        float ty = t + (up ? (float)row + 1 - py : py - (float)row) * along_y;
        do {
            if (tx < ty)
                t = tx, tx += along_x, column += step_x;
            else
                t = ty, ty += along_y, row += step_y;
            if (t >= most)
                return REACH;
            free = field[row * SIDE + column] / CELL;
            if (free < 0.5f)
                return t * CELL;
        } while (free < 4.0f);
        t += 1e-3f;
    }
}

void scan(int worlds, int people, const float *restrict x, const float *restrict y, const float *restrict radius,
          const float *restrict robot_x, const float *restrict robot_y, const float *restrict heading,
          const float *restrict beam_x, const float *restrict beam_y, const float *restrict fields, const int *restrict map,
          float *restrict ranges)
{
    for (int w = 0; w < worlds; w++) {
        const float *field = fields + (long)map[w] * SIDE * SIDE;
        const float px = robot_x[w], py = robot_y[w], c = cosf(heading[w]), s = sinf(heading[w]);
        const long o = (long)w * people;
        float *out = ranges + (long)w * BEAMS;
        for (int b = 0; b < BEAMS; b++)
            out[b] = first_wall(field, px, py, c * beam_x[b] - s * beam_y[b], s * beam_x[b] + c * beam_y[b]);
        for (int j = 0; j < people; j++) {
            const float ox = x[o + j] - px, oy = y[o + j] - py, r = radius[o + j], d2 = ox * ox + oy * oy, d = sqrtf(d2);
            if (d - r >= REACH)
                continue;
            const float middle = atan2f(oy, ox) - heading[w], half = d > r ? asinf(r / d) : 0.5f * TWO_PI;
            const int first = (int)floorf((middle - half) * (BEAMS / TWO_PI)), last = (int)ceilf((middle + half) * (BEAMS / TWO_PI));
            for (int k = first; k <= last; k++) {
                const int b = (k % BEAMS + BEAMS) % BEAMS;
                const float dx = c * beam_x[b] - s * beam_y[b], dy = s * beam_x[b] + c * beam_y[b];
                const float along = ox * dx + oy * dy, inside = along * along - d2 + r * r;
                if (inside >= 0) {
                    const float t = along - sqrtf(inside);
                    if (t > 0 && t < out[b])
                        out[b] = t;
                }
            }
        }
    }
}
