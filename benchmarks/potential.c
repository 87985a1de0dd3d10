/* Deep social force in plain C: goal, all pairs with a network of five units, wall, semi-implicit Euler; as
   agora.pedestrians.models.deep_social_force and the engine compute them. Built by plain_c.py together with kernels.c. */
#include "kernels.c"

/* Written out, because gcc vectorises the loop over neighbours only if there is none inside it; the
   bound, because the vector form of expf leaves what overflows to a slow loop. */
#define UNIT(k) (units[3 * (k) + 2] / (1.0f + expf(fminf(-units[3 * (k) + 1] - units[3 * (k)] * b, 80.0f))))

static const float STRIDE = 0.4f, COSINE = -0.17364818f, BEHIND = 0.5f, WALL_POTENTIAL = 10.0f;

void deep_social_force(int worlds, int people, float *restrict x, float *restrict y, float *restrict vx, float *restrict vy,
                       const float *restrict goal_x, const float *restrict goal_y, const float *restrict radius,
                       const float *restrict speed, const float *restrict fields, const int *restrict map, float *restrict ax,
                       float *restrict ay, const float *restrict units)
{
    for (int w = 0; w < worlds; w++) {
        const float *field = fields + (long)map[w] * SIDE * SIDE;
        const long o = (long)w * people;
        for (int i = 0; i < people; i++) {
            const float xi = x[o + i], yi = y[o + i];
            float ex = goal_x[o + i] - xi, ey = goal_y[o + i] - yi, fx = 0, fy = 0;
            const float inverse = 1.0f / sqrtf(ex * ex + ey * ey + 1e-12f);
            ex *= inverse, ey *= inverse;
            for (int j = 0; j < people; j++) {
                const float dx = xi - x[o + j], dy = yi - y[o + j], qx = dx - STRIDE * vx[o + j], qy = dy - STRIDE * vy[o + j];
                const float d2 = dx * dx + dy * dy, d = sqrtf(d2 + 1e-8f), e = sqrtf(qx * qx + qy * qy + 1e-8f);
                const float mx = dx / d + qx / e, my = dy / d + qy / e, m = sqrtf(mx * mx + my * my + 1e-8f);
                const float b = 0.5f * m * sqrtf(d * e);
                const float slope = UNIT(0) + UNIT(1) + UNIT(2) + UNIT(3) + UNIT(4);
                const float weight = -(mx * ex + my * ey) >= COSINE * m ? 1.0f : BEHIND;
                const float factor = d2 > 1e-6f ? slope * weight * (d + e) / (4.0f * b) : 0.0f;
                fx -= factor * mx;
                fy -= factor * my;
            }
            const Wall wall = wall_at(field, xi, yi);
            const float push = WALL_POTENTIAL / WALL_LENGTH * expf(-wall.distance / WALL_LENGTH);
            ax[o + i] = (speed[o + i] * ex - vx[o + i]) / (1.0f / 2.0f) + fx + push * wall.x;
            ay[o + i] = (speed[o + i] * ey - vy[o + i]) / (1.0f / 2.0f) + fy + push * wall.y;
        }
        for (long i = o; i < o + people; i++) {
            float u = vx[i] + ax[i] * STEP, v = vy[i] + ay[i] * STEP;
            const float now = sqrtf(u * u + v * v + 1e-12f), most = speed[i] * TOP_SPEED, share = now > most ? most / now : 1.0f;
            vx[i] = u * share, vy[i] = v * share;
            x[i] += vx[i] * STEP, y[i] += vy[i] * STEP;
        }
    }
    (void)radius;
}
