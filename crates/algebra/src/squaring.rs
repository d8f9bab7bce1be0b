//! Powers by repeated squaring.

/// `base` to the power of `n`, for n above zero, with this multiplication.
pub(crate) fn power<T: Clone, E>(base: T, mut n: u128, mul: impl Fn(&T, &T) -> Result<T, E>) -> Result<T, E> {
    let (mut out, mut square) = (None, base);
    loop {
        if n & 1 == 1 {
            out = Some(out.map_or_else(|| Ok(square.clone()), |out| mul(&out, &square))?);
        }
        n >>= 1;
        match out {
            Some(out) if n == 0 => return Ok(out),
            _ => square = mul(&square, &square)?,
        }
    }
}
